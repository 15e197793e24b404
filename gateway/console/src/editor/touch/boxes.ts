import type { ImageBox, ImageSize } from "@nodeloom/kernel/graph";

/** Dragging of boxes, in pixels of the picture. */
export const HANDLES = ["nw", "n", "ne", "e", "se", "s", "sw", "w"] as const;
export type Handle = (typeof HANDLES)[number];
export type Grip = Handle | "move";
export const CORNERS: readonly Handle[] = ["nw", "ne", "se", "sw"];

export interface Shift {
  x: number;
  y: number;
}

export const clamped = (value: number, least: number, most: number): number => Math.max(least, Math.min(most, value));

/** Direction in which a handle moves its edges. */
export const directionOf = (grip: Grip): Shift => {
  if (grip === "move") return { x: 0, y: 0 };
  return { x: grip.includes("e") ? 1 : grip.includes("w") ? -1 : 0, y: grip.includes("s") ? 1 : grip.includes("n") ? -1 : 0 };
};

const moved = (box: ImageBox, by: Shift, within: ImageSize | undefined): ImageBox => {
  const [left, top] = [Math.round(box.left + by.x), Math.round(box.top + by.y)];
  if (!within) return { ...box, left, top };
  return { ...box, left: clamped(left, 0, within.width - box.width), top: clamped(top, 0, within.height - box.height) };
};

/** Start and length of one side after its near (-1) or far (1) end moved. */
const stretched = (start: number, length: number, direction: number, by: number, most: number): [start: number, length: number] => {
  if (direction > 0) return [start, clamped(Math.round(length + by), 1, most - start)];
  if (direction === 0) return [start, length];
  const end = start + length;
  const next = Math.round(clamped(start + by, most === Infinity ? -Infinity : 0, end - 1));
  return [next, end - next];
};

/** Room for a side from its fixed end, or on both sides of its middle. */
const roomOf = (start: number, length: number, direction: number, most: number): number => {
  if (most === Infinity) return Infinity;
  if (direction > 0) return most - start;
  return direction < 0 ? start + length : 2 * Math.min(start + length / 2, most - start - length / 2);
};

const startOf = (start: number, before: number, length: number, direction: number, most: number): number => {
  if (direction > 0) return start;
  if (direction < 0) return start + before - length;
  const middle = Math.round(start + (before - length) / 2);
  return most === Infinity ? middle : clamped(middle, 0, most - length);
};

/** Keeps the proportions: a corner keeps the opposite corner, an edge keeps the middle of the opposite edge. */
const scaled = (box: ImageBox, grip: Handle, by: Shift, ratio: number, within: ImageSize): ImageBox => {
  const to = directionOf(grip);
  const [across, down] = [box.width + to.x * by.x, (box.height + to.y * by.y) * ratio];
  const wantedSize = to.x === 0 ? down : to.y === 0 ? across : Math.max(across, down);
  const room = roomOf(box.top, box.height, to.y, within.height);
  const most = Math.min(roomOf(box.left, box.width, to.x, within.width), Math.round(room * ratio));
  const width = Math.round(clamped(wantedSize, 1, Math.max(1, most)));
  const height = clamped(Math.round(width / ratio), 1, Math.max(1, room));
  return {
    width,
    height,
    left: startOf(box.left, box.width, width, to.x, within.width),
    top: startOf(box.top, box.height, height, to.y, within.height),
  };
};

const ENDLESS: ImageSize = { width: Infinity, height: Infinity };

/**
 * A box after a drag of a handle or of the whole box, in whole pixels and at least 1 × 1.
 * @param within picture that the box stays inside of
 * @param ratio width to height to keep
 */
export const dragged = (
  box: ImageBox,
  grip: Grip,
  by: Shift,
  { within, ratio }: { within?: ImageSize | undefined; ratio?: number | undefined } = {},
): ImageBox => {
  if (grip === "move") return moved(box, by, within);
  if (ratio !== undefined) return scaled(box, grip, by, ratio, within ?? ENDLESS);
  const to = directionOf(grip);
  const [left, width] = stretched(box.left, box.width, to.x, by.x, within?.width ?? Infinity);
  const [top, height] = stretched(box.top, box.height, to.y, by.y, within?.height ?? Infinity);
  return { left, top, width, height };
};

/** A box of another size around the same middle, inside the picture. */
export const centredOn = (box: ImageBox, size: ImageSize, within: ImageSize): ImageBox => ({
  ...size,
  left: clamped(Math.round(box.left + (box.width - size.width) / 2), 0, within.width - size.width),
  top: clamped(Math.round(box.top + (box.height - size.height) / 2), 0, within.height - size.height),
});

/** Style of a box on a surface. @param scale screen pixels per pixel of the picture */
export const placed = ({ left, top, width, height }: ImageBox, scale: number): ImageBox => ({
  left: left * scale,
  top: top * scale,
  width: width * scale,
  height: height * scale,
});

const ARROWS: Readonly<Record<string, Shift>> = {
  ArrowLeft: { x: -1, y: 0 },
  ArrowRight: { x: 1, y: 0 },
  ArrowUp: { x: 0, y: -1 },
  ArrowDown: { x: 0, y: 1 },
};
const LEAP = 10;

/** Movement by an arrow key: 1 pixel, with Shift 10. */
export const arrowShift = ({ key, shiftKey }: { key: string; shiftKey: boolean }): Shift | undefined => {
  const one = ARROWS[key];
  return one && shiftKey ? { x: one.x * LEAP, y: one.y * LEAP } : one;
};
