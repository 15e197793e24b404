import type { NodeState } from "@nodeloom/client";
import { readDocGraph } from "../../src/document/graph";

Object.assign(globalThis, { location: { origin: "http://127.0.0.1:8080" }, GATEWAY_ORIGIN: "" });

const state = (id: string, type: string, status: NodeState["status"]): [string, NodeState] => [
  id,
  { id, type, status, startedAt: null, durationMs: null, creditsCost: 0, error: null },
];
const edge = (source: string, target: string) => ({ id: `${source} ${target}`, source, target });
const graph = readDocGraph("[]", JSON.stringify([edge("picture", "pick"), edge("pick", "clip"), edge("clip", "last")]));
const statuses = async (clip: NodeState["status"]): Promise<string[]> => {
  const { reachedNodes } = await import("../../src/editor/scene/shown");
  return [
    ...reachedNodes(
      graph,
      new Map([
        state("picture", "generate-image", "processing"),
        state("pick", "json", "pending"),
        state("clip", "generate-video", clip),
        state("last", "json", "pending"),
      ]),
    ).values(),
  ].map(({ status }) => status);
};

describe("a node that only handles values", () => {
  it("is done once what follows it has begun", async () => {
    expect(await statuses("processing")).toEqual(["processing", "completed", "processing", "pending"]);
  });

  it("waits while what follows it does", async () => {
    expect(await statuses("pending")).toEqual(["processing", "pending", "pending", "pending"]);
  });
});
