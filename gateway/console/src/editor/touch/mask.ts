import { isRecord, MASK_SHAPES, type ImageSize, type MaskShape } from "@nodeloom/kernel/graph";
import { clamped } from "./boxes";
import type { Settings } from "./settings";

/** Strokes and rectangles that are drawn on a picture, as settings of a node. */

export type Tool = "brush" | "eraser" | "rectangle";
export type Point = readonly [x: number, y: number];

const DIGITS = 10_000;
const rounded = (value: number): number => Math.round(value * DIGITS) / DIGITS;
/** Points closer than this share of a side add nothing to a stroke. */
const NEAREST = 0.003;

export const shapesOf = ({ shapes }: Settings): readonly MaskShape[] =>
  Array.isArray(shapes) ? (shapes as unknown[]).filter((shape): shape is Record<string, unknown> & MaskShape => isRecord(shape)) : [];

/** A position in the picture as shares of its sides. It can lie outside, as far as the settings allow. */
export const pointAt = ({ x, y }: { x: number; y: number }, { width, height }: ImageSize): Point => [
  rounded(clamped(x / width, -1, 2)),
  rounded(clamped(y / height, -1, 2)),
];

/** Adds a point to a stroke, unless it is too close to the last one or the stroke is full. */
export const withPoint = (points: readonly Point[], next: Point): readonly Point[] => {
  const last = points.at(-1);
  const isNear = last !== undefined && Math.hypot(next[0] - last[0], next[1] - last[1]) < NEAREST;
  return isNear || points.length >= MASK_SHAPES.points ? points : [...points, next];
};

/** The shape of a drag with a tool; undefined for a rectangle without area. @param size of the brush, as a share of the longer side */
export const shapeOf = (tool: Tool, points: readonly Point[], size: number): MaskShape | undefined => {
  if (points.length === 0) return undefined;
  if (tool !== "rectangle") return { tool: "brush", points, size, ...(tool === "eraser" ? { erase: true } : {}) };
  const [[fromX, fromY], [toX, toY]] = [points[0]!, points.at(-1)!];
  const [width, height] = [rounded(Math.abs(toX - fromX)), rounded(Math.abs(toY - fromY))];
  return width > 0 && height > 0 ? { tool, x: Math.min(fromX, toX), y: Math.min(fromY, toY), width, height } : undefined;
};
