import { frameOf, frameSize, hiddenBy, hiddenNodes, onFrame, SMALLEST_FRAME } from "../../src/canvas/frames";
import { boxOf } from "../../src/canvas/geometry";
import { REMARK } from "../../src/canvas/kinds";
import { copyInto, partOf } from "../../src/document/edit";
import { nodesOf, readDocGraph } from "../../src/document/graph";
import { isCaught, isInside } from "../../src/canvas/lasso";

const rect = (id: string, x: number, y: number): { id: string; x: number; y: number; width: number; height: number } => ({
  id,
  x,
  y,
  width: 100,
  height: 100,
});
const NO_PORTS = { inputs: [], outputs: [], allInputs: [], wired: new Set<string>() };

describe("a frame", () => {
  it("is a remark with a size; nothing else is, whatever its settings say", () => {
    const data = { frame: { width: 600, height: 300 } };
    expect(frameOf({ id: "f", type: REMARK.type, data })).toEqual({ width: 600, height: 300 });
    expect(frameOf({ id: "f", type: "json", data })).toBeUndefined();
    for (const frame of [undefined, 7, [], {}, { width: "600", height: 300 }])
      expect(frameOf({ id: "f", type: REMARK.type, data: { frame } })).toBeUndefined();
    expect(boxOf({ id: "f", type: REMARK.type, data }, NO_PORTS, undefined)).toMatchObject({ width: 600, height: 300 });
  });

  it("is never so small that it can't be taken hold of, nor endless", () => {
    expect(frameSize({ width: -5, height: 0 })).toEqual(SMALLEST_FRAME);
    expect(frameSize({ width: 1e9, height: 1e9 })).toEqual({ width: 20_000, height: 20_000 });
  });

  it("contains nodes whose middle is inside, and not itself", () => {
    const frame = { ...rect("f", 0, 0), width: 400, height: 200 };
    const others = [frame, rect("in", 50, 50), rect("half", 349, 20), rect("out", 351, 20), rect("below", 50, 160)];
    expect(onFrame(frame, others)).toEqual(["in", "half"]);
  });
});

describe("a collapsed frame", () => {
  const frame = (id: string, collapsed: unknown) => ({ id, type: REMARK.type, data: { frame: { width: 600, height: 300 }, collapsed } });

  it("stands for what lay on it, the outermost for all that lay on frames on it", () => {
    const nodes = [frame("inner", ["a", "b", "inner"]), frame("outer", ["inner", "a", "c"]), frame("open", undefined)];
    expect([...hiddenNodes(nodes)]).toEqual([
      ["a", "outer"],
      ["b", "outer"],
      ["inner", "outer"],
      ["c", "outer"],
    ]);
  });

  it("hides nothing that it does not name, and ends where frames name one another", () => {
    expect(hiddenBy({ id: "x", type: "json", data: { collapsed: ["a"] } })).toBeUndefined();
    expect(hiddenBy(frame("f", [7, "a", null]))).toEqual(["a"]);
    expect(hiddenNodes([frame("f", ["g"]), frame("g", ["f"])]).size).toBe(2);
  });

  it("has a head alone, with one end for links on each side", () => {
    expect(boxOf(frame("f", ["a"]), NO_PORTS, undefined)).toMatchObject({
      width: 260,
      height: 56,
      inputs: [{ y: 28 }],
      outputs: [{ y: 28 }],
    });
  });

  it("that is copied contains the copies", () => {
    const graph = readDocGraph(JSON.stringify([frame("f", ["a"]), { id: "a", type: "json" }]), "[]");
    const { nodes } = copyInto(graph, partOf(graph, new Set(["f", "a"])), { x: 9, y: 9 }).graph;
    expect(nodesOf({ nodes, edges: [] }).map(({ id, data }) => [id, data.collapsed])).toEqual([
      ["f", ["a"]],
      ["a", undefined],
      ["f-2", ["a-2"]],
      ["a-2", undefined],
    ]);
  });
});

describe("a line drawn around nodes", () => {
  /** An L: its inner corner is outside. */
  const line = [
    { x: 0, y: 0 },
    { x: 300, y: 0 },
    { x: 300, y: 100 },
    { x: 100, y: 100 },
    { x: 100, y: 300 },
    { x: 0, y: 300 },
  ];
  it("has inside what it goes around, bends included", () => {
    expect(
      [
        [50, 50],
        [250, 50],
        [50, 250],
        [250, 250],
        [-1, 50],
      ].map(([x, y]) => isInside({ x: x!, y: y! }, line)),
    ).toEqual([true, true, true, false, false]);
  });

  it("catches nodes with their middle or a corner inside", () => {
    expect(isCaught(rect("corner", 90, 90), line)).toBe(true);
    expect(isCaught(rect("beside", 150, 150), line)).toBe(false);
    expect(isCaught({ x: -50, y: -50, width: 200, height: 200 }, line)).toBe(true);
  });

  it("of fewer than three points catches nothing", () => {
    for (const few of [[], line.slice(0, 1), line.slice(0, 2)]) expect(isCaught(rect("a", 0, 0), few)).toBe(false);
  });
});
