import { frameOf, frameSize, onFrame, SMALLEST_FRAME } from "../../src/canvas/frames";
import { boxOf } from "../../src/canvas/geometry";
import { REMARK } from "../../src/canvas/kinds";
import { isCaught, isInside } from "../../src/canvas/lasso";

const rect = (id: string, x: number, y: number): { id: string; x: number; y: number; width: number; height: number } => ({
  id,
  x,
  y,
  width: 100,
  height: 100,
});
const NO_PORTS = { inputs: [], outputs: [] };

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

  it("holds what has its middle inside, and not itself", () => {
    const frame = { ...rect("f", 0, 0), width: 400, height: 200 };
    const others = [frame, rect("in", 50, 50), rect("half", 349, 20), rect("out", 351, 20), rect("below", 50, 160)];
    expect(onFrame(frame, others)).toEqual(["in", "half"]);
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

  it("catches what has its middle or a corner inside", () => {
    expect(isCaught(rect("corner", 90, 90), line)).toBe(true);
    expect(isCaught(rect("beside", 150, 150), line)).toBe(false);
    expect(isCaught({ x: -50, y: -50, width: 200, height: 200 }, line)).toBe(true);
  });

  it("of fewer than three points catches nothing", () => {
    for (const few of [[], line.slice(0, 1), line.slice(0, 2)]) expect(isCaught(rect("a", 0, 0), few)).toBe(false);
  });
});
