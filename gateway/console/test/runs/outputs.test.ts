import type { NodeState } from "@nodeloom/client";

// The part of the browser's page that addresses are made from.
Object.assign(globalThis, { location: { origin: "http://127.0.0.1:8080" }, GATEWAY_ORIGIN: "" });
import { readDocGraph } from "../../src/document/graph";
import { filesIn } from "../../src/media/files-in";
import { callsOf, endOutputs, outputsOf } from "../../src/runs/outputs";
import { routePath } from "../../src/canvas/routes";

const picture = (name: string) => ({ url: `http://127.0.0.1:8080/media/${name}.png`, contentType: "image/png" });
const node = (id: string, change: Partial<NodeState> = {}): NodeState => ({
  id,
  type: "generate-image",
  status: "completed",
  startedAt: null,
  durationMs: null,
  creditsCost: 0,
  error: null,
  ...change,
});
const call = (item: number, name?: string) => ({
  item,
  status: name === undefined ? ("failed" as const) : ("completed" as const),
  ...(name === undefined ? {} : { outputs: { image: [picture(name)] } }),
  error: null,
  creditsCost: 3,
  requestId: null,
});
const failed = node("stills", { status: "failed", items: 3, calls: [call(0, "a"), call(1), call(2, "c")] });
const edges = (...ends: string[]) =>
  JSON.stringify(ends.map((one, at) => ({ id: `e${at}`, source: one.split(" ")[0], target: one.split(" ")[1] })));

describe("a node's result", () => {
  it("is what its calls gave, in their order, those that failed left out", () => {
    expect(filesIn(outputsOf(failed)).map(({ url }) => url.at(-5))).toEqual(["a", "c"]);
    expect(callsOf(failed).map(({ status }) => status)).toEqual(["completed", "failed", "completed"]);
  });

  it("is shown of the last nodes that gave something, also when those behind them failed", () => {
    const graph = readDocGraph("[]", edges("text stills", "stills clip"));
    const nodes = [node("text", { outputs: { text: "a boat" } }), failed, node("clip", { status: "failed" })];
    expect(endOutputs(graph, { nodes }).map(({ id }) => id)).toEqual(["stills"]);
  });

  it("is nothing while it has yet to run", () => {
    expect(callsOf(node("a", { status: "pending" }))).toEqual([]);
    expect(outputsOf(node("a", { status: "pending" }))).toBeUndefined();
  });
});

it("a route is a line from port to port", () => {
  const path = routePath({ from: { x: 0, y: 0 }, to: { x: 300, y: 10 } }, { left: 60, right: 240, y: -40 });
  expect(path.startsWith("M0,0 ")).toBe(true);
  expect(path.endsWith(" 300,10")).toBe(true);
});
