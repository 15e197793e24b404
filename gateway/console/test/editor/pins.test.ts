import type { LatestOutput } from "../../src/runs/latest-outputs";
import { readDocGraph, type DocGraph } from "../../src/document/graph";
import { isPinned, pinsOf } from "../../src/editor/pins/pins";
import { nodesOf } from "../../src/document/graph";

const node = (id: string, type: string, view?: object, data: object = {}): object => ({
  id,
  type,
  position: { x: 0, y: 0 },
  data,
  ...(view ? { view } : {}),
});
const PINNED = { pinned: true };
const graphOf = (...nodes: object[]): DocGraph =>
  readDocGraph(
    JSON.stringify(nodes),
    JSON.stringify([{ id: "1", source: "ask", target: "pic", sourceHandle: "body", targetHandle: "prompt" }]),
  );
const latest = (id: string, executionId: string, at: string): [string, LatestOutput] => [
  id,
  { executionId, at, node: { id } as LatestOutput["node"], result: {} },
];

it("reuses pinned results that exist, and repeats all other calls", () => {
  const graph = graphOf(
    node("ask", "http-request", PINNED),
    node("pic", "generate-image"),
    node("end", "generate-image"),
    node("words", "text-box"),
  );
  expect(pinsOf(graph, undefined, new Map())).toBeUndefined();
  const pins = pinsOf(graph, undefined, new Map([latest("ask", "run-1", "2026-01-01"), latest("pic", "run-2", "2026-01-02")]))!;
  expect(pins).toMatchObject({ base: "run-1", again: { nodes: ["pic", "end"], reuse: ["ask"] } });
  // A run to a node has only the nodes it needs, and naming another would be rejected.
  expect(pinsOf(graph, "pic", new Map([latest("ask", "run-1", "2026-01-01")]))!.again.nodes).toEqual(["pic"]);
});

it("names no bypassed node, and continues from the newest pinned result", () => {
  const graph = graphOf(
    node("ask", "http-request", PINNED),
    node("pic", "generate-image", PINNED),
    node("end", "generate-image", PINNED, { bypass: true }),
  );
  const pins = pinsOf(
    graph,
    undefined,
    new Map([latest("ask", "run-1", "2026-01-01"), latest("pic", "run-2", "2026-01-02"), latest("end", "run-3", "2026-01-03")]),
  )!;
  expect(pins).toMatchObject({ base: "run-2", again: { nodes: [], reuse: ["ask", "pic"] } });
  expect(nodesOf(graph).map(isPinned)).toEqual([true, true, true]);
});
