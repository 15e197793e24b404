/** Rectangles of nodes on the canvas: bounds, alignment, guides and free positions. */

export interface Rect {
  x: number;
  y: number;
  width: number;
  height: number;
}

/** Bounding rectangle. */
export const around = (rects: readonly Rect[]): Rect | undefined => {
  if (rects.length === 0) return undefined;
  const [left, top] = [Math.min(...rects.map(({ x }) => x)), Math.min(...rects.map(({ y }) => y))];
  const right = Math.max(...rects.map(({ x, width }) => x + width));
  const bottom = Math.max(...rects.map(({ y, height }) => y + height));
  return { x: left, y: top, width: right - left, height: bottom - top };
};

export type Alignment = "left" | "center" | "right" | "top" | "middle" | "bottom" | "row" | "column";
const GAP = 60;

/** Positions after aligning or distributing. */
export const align = (rects: ReadonlyMap<string, Rect>, how: Alignment): Map<string, { x: number; y: number }> => {
  const frame = around([...rects.values()]);
  const places = new Map<string, { x: number; y: number }>();
  if (!frame) return places;
  if (how === "row" || how === "column") {
    const along = how === "row" ? "x" : "y";
    let at = frame[along];
    for (const [id, rect] of [...rects].sort(([, a], [, b]) => a[along] - b[along])) {
      places.set(id, how === "row" ? { x: at, y: rect.y } : { x: rect.x, y: at });
      at += (how === "row" ? rect.width : rect.height) + GAP;
    }
    return places;
  }
  for (const [id, { x, y, width, height }] of rects)
    places.set(
      id,
      {
        left: { x: frame.x, y },
        center: { x: frame.x + (frame.width - width) / 2, y },
        right: { x: frame.x + frame.width - width, y },
        top: { x, y: frame.y },
        middle: { x, y: frame.y + (frame.height - height) / 2 },
        bottom: { x, y: frame.y + frame.height - height },
      }[how],
    );
  return places;
};

const SNAP = 6;

export interface Guides {
  /** Guides to draw where an edge or centre aligns with another node. */
  x: number | undefined;
  y: number | undefined;
  /** Distance to the alignment. */
  dx: number;
  dy: number;
}

const nearest = (own: readonly number[], others: readonly (readonly number[])[]): { line: number; by: number } | undefined => {
  let best: { line: number; by: number } | undefined;
  for (const lines of others)
    for (const line of lines)
      for (const at of own) {
        const by = line - at;
        if (Math.abs(by) <= SNAP && (best === undefined || Math.abs(by) < Math.abs(best.by))) best = { line, by };
      }
  return best;
};

/** Alignments of a dragged rectangle with nearby ones. */
export const guidesFor = (own: Rect, others: readonly Rect[]): Guides => {
  const across = ({ x, width }: Rect): number[] => [x, x + width / 2, x + width];
  const down = ({ y, height }: Rect): number[] => [y, y + height / 2, y + height];
  const x = nearest(across(own), others.map(across));
  const y = nearest(down(own), others.map(down));
  return { x: x?.line, y: y?.line, dx: x?.by ?? 0, dy: y?.by ?? 0 };
};

const STEP = 28;
/** Gap between a new node and others. */
const APART = 24;

/** The free position nearest to the wanted one. */
export const freePlace = (
  wantedPlace: { x: number; y: number },
  size: { width: number; height: number },
  takenRects: readonly Rect[],
): { x: number; y: number } => {
  const hits = ({ x, y }: { x: number; y: number }): boolean =>
    takenRects.some(
      (rect) =>
        x < rect.x + rect.width + APART &&
        x + size.width + APART > rect.x &&
        y < rect.y + rect.height + APART &&
        y + size.height + APART > rect.y,
    );
  let place = wantedPlace;
  for (let tries = 0; tries < takenRects.length * 12 && hits(place); tries += 1) place = { x: place.x, y: place.y + STEP };
  return place;
};

/**
 * Makes room for a node within a left-to-right link. Returns its position, and how far the second node and its followers move right;
 * undefined for other directions.
 */
export const roomAfter = (
  source: Rect,
  target: Rect,
  size: { width: number; height: number },
  gap: number,
): { at: { x: number; y: number } | undefined; by: number } => {
  const [from, to] = [source.x + source.width, target.x];
  if (to < from) return { at: undefined, by: 0 };
  const by = Math.max(0, size.width + 2 * gap - (to - from));
  const y = (source.y + target.y) / 2;
  return { at: { x: from + (to + by - from - size.width) / 2, y }, by };
};
