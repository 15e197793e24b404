import type { NodeState } from "@nodeloom/client";

// The part of the browser's page that addresses are made from.
Object.assign(globalThis, { location: { origin: "http://127.0.0.1:8080" }, GATEWAY_ORIGIN: "" });
import { resultParts } from "../../src/runs/whole/result-parts";
import { turnsOf } from "../../src/runs/whole/turns";
import { innerNodes, wholeOf } from "../../src/runs/whole/whole";

const at = (ms: number): string => new Date(ms).toISOString();
const node = (id: string, change: Partial<NodeState> = {}): NodeState => ({
  id,
  type: "generate-image",
  status: "pending",
  startedAt: null,
  durationMs: null,
  creditsCost: 0,
  error: null,
  ...change,
});
const words = node("board/words", { type: "json", status: "completed", outputs: { value: ["a", "b"] } });
const still = (url: string) => ({ url: `http://127.0.0.1:8080/media/${url}.png`, contentType: "image/png" });
const stills = node("board/stills", {
  status: "completed",
  startedAt: at(1_000),
  durationMs: 500,
  creditsCost: 6,
  items: 2,
  itemsDone: 2,
  outputs: { image: [still("a"), still("b")] },
});
const PARTS = resultParts(
  [
    { id: "stills", type: "generate-image", data: {} },
    { id: "end", type: "response-output", data: {} },
  ],
  [{ id: "e", source: "stills", sourceHandle: "image", target: "end", targetHandle: "images" }],
);

describe("a workflow node in a run", () => {
  it("is what the nodes in its place are: under way, then done, with their time, price and items", () => {
    const going = [words, { ...stills, status: "processing" as const, durationMs: null, itemsDone: 1, outputs: {} }];
    expect(wholeOf("board", going)).toMatchObject({ status: "processing", durationMs: null, items: 2, itemsDone: 1 });
    expect(wholeOf("board", [words, stills])).toMatchObject({ status: "completed", durationMs: 500, creditsCost: 6, itemsDone: 2 });
    // Nodes that only handle values complete together with their successors.
    expect(wholeOf("board", [{ ...words, status: "pending" }, stills])?.status).toBe("completed");
    const error = { code: "PROVIDER_ERROR", message: "no" };
    expect(wholeOf("board", [words, { ...stills, status: "failed", error: error as NodeState["error"] }])).toMatchObject({
      status: "failed",
      error,
    });
    expect(wholeOf("other", innerNodes([words, stills, node("board2/x")], "other"))).toBeUndefined();
  });

  it("gives the members of its workflow's result, and all that was made while that is not known", () => {
    const clip = node("board/draft", { status: "completed", outputs: { image: [still("draft")] } });
    expect(wholeOf("board", [words, clip, stills], PARTS)?.outputs).toEqual({ images: stills.outputs!.image });
    expect(Object.keys(wholeOf("board", [words, { ...clip }, stills])?.outputs ?? {})).toEqual(["draft", "stills"]);
  });

  it("stays the same object while its nodes do", () => {
    const inner = [words, stills];
    expect(wholeOf("board", [...inner], PARTS)).toBe(wholeOf("board", [...inner], PARTS));
    expect(wholeOf("board", [words, { ...stills, itemsDone: 1 }], PARTS)).not.toBe(wholeOf("board", inner, PARTS));
  });
});

describe("a loop in a run", () => {
  const end = (turn: number, change: Partial<NodeState>): NodeState => node(`film/${turn}`, { type: "loop", ...change });
  const clip = (turn: number, change: Partial<NodeState>): NodeState => node(`film/${turn}/clip`, change);

  it("gives the result of the last turn that ran, and costs what its turns cost", () => {
    const inner = [
      ...[clip(1, { status: "completed", creditsCost: 2 }), end(1, { status: "completed", outputs: { turns: 1 } })],
      ...[clip(2, { status: "completed", creditsCost: 3 }), end(2, { status: "completed", outputs: { turns: 2 } })],
      ...[clip(10, { status: "skipped" }), end(10, { status: "skipped" })],
    ];
    expect(wholeOf("film", inner)).toMatchObject({ status: "completed", creditsCost: 5, outputs: { turns: 2 } });
  });

  it("names the turns of a node, also in loops within loops", () => {
    const nodes = new Map(["film/2", "film/2/deep/3"].map((id) => [id, node(id, { type: "loop" })]));
    expect(turnsOf("film/2/deep/3/clip", nodes)).toEqual(["2", "3"]);
    expect(turnsOf("board/2/clip", nodes)).toEqual([]);
    expect(turnsOf("film", nodes)).toEqual([]);
  });
});
