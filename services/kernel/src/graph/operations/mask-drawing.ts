import type { ImageSize } from "./geometry";
import { MASK_SHAPES, type MaskShape } from "./mask-shapes";

/** Draws masks. The transform service and the console's editor use this code, so that both show the same pixels. */

const SELECTED = 255;

/** Fills the pixels of a row whose centres lie between two positions, and returns their number. */
const fillSpan = (mask: Uint8Array, width: number, row: number, from: number, to: number, level: number): number => {
  const first = Math.max(0, Math.ceil(from - 0.5));
  const end = Math.min(width, Math.floor(to - 0.5) + 1);
  if (end <= first) return 0;
  mask.fill(level, row * width + first, row * width + end);
  return end - first;
};

interface Segment {
  ax: number;
  ay: number;
  bx: number;
  by: number;
  radius: number;
}

/** Where a row crosses a segment's round outline; undefined if it doesn't. The outline is convex, so one span is enough. */
const spanAt = ({ ax, ay, bx, by, radius }: Segment, y: number): [number, number] | undefined => {
  let [from, to] = [Infinity, -Infinity];
  const add = (low: number, high: number): void => {
    if (low <= high) [from, to] = [Math.min(from, low), Math.max(to, high)];
  };
  for (const [x, centre] of [
    [ax, ay],
    [bx, by],
  ] as const) {
    const half = radius * radius - (y - centre) ** 2;
    if (half >= 0) add(x - Math.sqrt(half), x + Math.sqrt(half));
  }
  const [dx, dy] = [bx - ax, by - ay];
  const length = Math.hypot(dx, dy);
  if (length === 0) return from <= to ? [from, to] : undefined;
  const [ux, uy] = [dx / length, dy / length];
  // Limits of x for which the point lies beside the segment (0 to length along it) and within the radius of it.
  let [low, high] = [-Infinity, Infinity];
  const limit = (slope: number, offset: number, least: number, most: number): void => {
    if (slope === 0) {
      if (offset < least || offset > most) [low, high] = [Infinity, -Infinity];
      return;
    }
    const [one, other] = [(least - offset) / slope, (most - offset) / slope];
    [low, high] = [Math.max(low, Math.min(one, other)), Math.min(high, Math.max(one, other))];
  };
  limit(ux, (y - ay) * uy - ax * ux, 0, length);
  limit(-uy, (y - ay) * ux + ax * uy, -radius, radius);
  add(low, high);
  return from <= to ? [from, to] : undefined;
};

/** Thrown if shapes are too large or too many to draw. The message is for the author of the settings. */
export class ShapesError extends Error {
  override readonly name = "ShapesError";
}

/** The reason why shapes can't be drawn, or undefined. */
export const shapesProblem = (shapes: readonly MaskShape[]): string | undefined => {
  const points = shapes.reduce((sum, shape) => sum + (shape.points?.length ?? 0), 0);
  return points > MASK_SHAPES.allPoints ? `shapes: have ${points} points; use at most ${MASK_SHAPES.allPoints}` : undefined;
};

/**
 * Draws shapes into a mask of one byte per pixel: 255 is selected. A pixel belongs to a shape if its centre does, so equal shapes result
 * in equal masks.
 * @param mask drawn on, row by row
 * @throws ShapesError
 */
export const drawShapes = (mask: Uint8Array, { width, height }: ImageSize, shapes: readonly MaskShape[]): void => {
  const problem = shapesProblem(shapes);
  if (problem !== undefined) throw new ShapesError(problem);
  let work = 0;
  const rows = (top: number, bottom: number, spanOf: (y: number) => [number, number] | undefined, level: number): void => {
    const end = Math.min(height, Math.ceil(bottom));
    for (let row = Math.max(0, Math.floor(top)); row < end; row += 1) {
      const span = spanOf(row + 0.5);
      work += 1 + (span ? fillSpan(mask, width, row, span[0], span[1], level) : 0);
    }
    if (work > MASK_SHAPES.work) throw new ShapesError("shapes: are too large or too many; use fewer strokes or a smaller brush");
  };
  for (const shape of shapes) {
    const level = shape.erase === true ? 0 : SELECTED;
    if (shape.tool === "rectangle") {
      const [left, top] = [(shape.x ?? 0) * width, (shape.y ?? 0) * height];
      const [right, bottom] = [left + (shape.width ?? 0) * width, top + (shape.height ?? 0) * height];
      rows(top, bottom, (y) => (y >= top && y <= bottom ? [left, right] : undefined), level);
      continue;
    }
    const radius = ((shape.size ?? 0) * Math.max(width, height)) / 2;
    const points = (shape.points ?? []).map(([x, y]) => [x * width, y * height] as const);
    for (const [index, [ax, ay]] of points.entries()) {
      const [bx, by] = points[index + 1] ?? [ax, ay];
      if (index > 0 && index === points.length - 1) break;
      const segment = { ax, ay, bx, by, radius };
      rows(Math.min(ay, by) - radius, Math.max(ay, by) + radius, (y) => spanAt(segment, y), level);
    }
  }
};
