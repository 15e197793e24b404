import type { Rect } from "./rects";

export interface Spot {
  x: number;
  y: number;
}

/** Ray casting: a ray to the right from an inside point crosses a closed line an odd number of times. */
export const isInside = ({ x, y }: Spot, line: readonly Spot[]): boolean => {
  let inside = false;
  line.forEach((to, index) => {
    const from = line[(index + line.length - 1) % line.length]!;
    const crosses = to.y > y !== from.y > y && x < ((from.x - to.x) * (y - to.y)) / (from.y - to.y) + to.x;
    if (crosses) inside = !inside;
  });
  return inside;
};

/** True if a drawn line selects a rectangle: its centre or any corner is inside. */
export const isCaught = ({ x, y, width, height }: Rect, line: readonly Spot[]): boolean =>
  [
    { x: x + width / 2, y: y + height / 2 },
    { x, y },
    { x: x + width, y },
    { x, y: y + height },
    { x: x + width, y: y + height },
  ].some((spot) => isInside(spot, line));
