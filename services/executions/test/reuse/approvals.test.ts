import type { Graph } from "@nodeloom/kernel";
import { createReuseWorld, planOf, quotedOf, type Asking } from "../support/reuse-world";

const NODES = {
  in: { id: "in", type: "request-input", data: { fields: [{ name: "topic" }] } },
  draft: { id: "draft", type: "llm-assistant", data: { model: "chat", prompt: "draft {{a}}" } },
  review: { id: "review", type: "approval", data: {} },
  final: { id: "final", type: "llm-assistant", data: { model: "chat", prompt: "finish {{a}}" } },
  out: { id: "out", type: "response-output", data: {} },
};
type Edge = [source: string, sourceHandle: string, target: string, targetHandle: string];

const asking = (ids: (keyof typeof NODES)[], edges: Edge[]): Asking => ({
  graph: {
    nodes: ids.map((id) => NODES[id]),
    edges: edges.map(([source, sourceHandle, target, targetHandle], index) => ({
      ...{ id: `e${index}`, source, sourceHandle, target, targetHandle },
    })),
  } as unknown as Graph,
  inputs: { topic: "sea" },
});

it("reuses nothing after an approval before the rerun has its decision", async () => {
  const world = createReuseWorld();
  const direct = asking(
    ["in", "draft", "final", "out"],
    [
      ["in", "topic", "draft", "a"],
      ["draft", "text", "final", "a"],
      ["final", "text", "out", "text"],
    ],
  );
  await world.carry(planOf(direct)!, "first");
  const reviewed = asking(
    ["in", "draft", "review", "final", "out"],
    [
      ["in", "topic", "draft", "a"],
      ["draft", "text", "review", "value"],
      ["review", "approved", "final", "a"],
      ["final", "text", "out", "text"],
    ],
  );
  const planned = (await world.plan(reviewed, { sources: ["first"], again: [], requests: [] }))!;
  expect([...planned.free]).toEqual(["draft:0"]);
  expect([...planned.open]).toContain("final");
  expect(quotedOf(planned)).toEqual({ calls: 1, exact: false });
});
