/** Size of the map including its margin. */
const [WIDTH, HEIGHT] = [230, 180];
/** Corners for the map. The tools are in the fourth corner. */
export const CORNERS = ["bottom-right", "top-right", "top-left"] as const;
export type Corner = (typeof CORNERS)[number];

interface View {
  transform: readonly [left: number, top: number, zoom: number];
  width: number;
  height: number;
}

/** The first corner of the view without nodes. */
export const freeCorner = (
  rects: readonly { x: number; y: number; width: number; height: number }[],
  { transform: [left, top, zoom], width, height }: View,
): Corner | undefined =>
  CORNERS.find((corner) => {
    const [x, y] = [corner.endsWith("right") ? width - WIDTH : 0, corner.startsWith("bottom") ? height - HEIGHT : 0];
    return !rects.some(
      (rect) =>
        rect.x * zoom + left < x + WIDTH &&
        (rect.x + rect.width) * zoom + left > x &&
        rect.y * zoom + top < y + HEIGHT &&
        (rect.y + rect.height) * zoom + top > y,
    );
  });
