import type { Rect } from "./rects";

/** A detour around nodes: level at `y` between `left` and `right`. */
export interface Route {
  left: number;
  right: number;
  y: number;
}

interface Ends {
  source: string;
  target: string;
  from: { x: number; y: number };
  to: { x: number; y: number };
}

const SAMPLES = 14;
/** Gap between a link and the nodes that it passes. */
const APART = 22;
const TURN = 36;
const TRIES = 6;

/** Point on the canvas's curve between two ports, from left to right. */
const along = ({ from, to }: Ends, t: number): { x: number; y: number } => {
  const half = (to.x - from.x) / 2;
  const [a, b, c, d] = [(1 - t) ** 3, 3 * (1 - t) ** 2 * t, 3 * (1 - t) * t ** 2, t ** 3];
  return { x: a * from.x + b * (from.x + half) + c * (to.x - half) + d * to.x, y: (a + b) * from.y + (c + d) * to.y };
};

/** Points at which the detour turns between the ports and the level line. */
const turns = ({ from, to }: Ends, { left, right, y }: Route): { x: number; y: number }[] =>
  [
    [from, { x: left, y }],
    [{ x: right, y }, to],
  ].flatMap(([start, end]) => {
    const ends = { source: "", target: "", from: start!, to: end! };
    return Array.from({ length: SAMPLES / 2 }, (_, at) => along(ends, (at + 1) / (SAMPLES / 2 + 1)));
  });

const isOver = (rect: Rect, { x, y }: { x: number; y: number }): boolean =>
  x > rect.x && x < rect.x + rect.width && y > rect.y && y < rect.y + rect.height;
const crosses = (rect: Rect, { left, right, y }: Route): boolean =>
  rect.x < right && rect.x + rect.width > left && y > rect.y - APART / 2 && y < rect.y + rect.height + APART / 2;

/** Moves the level line outwards on one side until no node is in its way. */
const passing = (ends: Ends, hit: readonly Rect[], others: readonly Rect[], side: "above" | "below"): Route | undefined => {
  let inTheWay = hit;
  for (let tries = 0; tries < TRIES; tries += 1) {
    const left = Math.max(ends.from.x + TURN, Math.min(...inTheWay.map(({ x }) => x)) - TURN);
    const right = Math.min(ends.to.x - TURN, Math.max(...inTheWay.map(({ x, width }) => x + width)) + TURN);
    const y =
      side === "above"
        ? Math.min(...inTheWay.map((rect) => rect.y)) - APART
        : Math.max(...inTheWay.map((rect) => rect.y + rect.height)) + APART;
    if (right <= left) return undefined;
    const route = { left, right, y };
    const points = turns(ends, route);
    const more = others.filter((rect) => !inTheWay.includes(rect) && (crosses(rect, route) || points.some((point) => isOver(rect, point))));
    if (more.length === 0) return route;
    inTheWay = [...inTheWay, ...more];
  }
  return undefined;
};

/** Detour of a left-to-right link; undefined if no node is in its way. */
export const routeOf = (ends: Ends, nodes: ReadonlyMap<string, Rect>): Route | undefined => {
  const { from, to, source, target } = ends;
  if (to.x - from.x < 4 * TURN) return undefined;
  const [top, bottom] = [Math.min(from.y, to.y), Math.max(from.y, to.y)];
  const between: Rect[] = [];
  for (const [id, rect] of nodes) if (id !== source && id !== target && rect.x < to.x && rect.x + rect.width > from.x) between.push(rect);
  const near = between.filter(({ y, height }) => y < bottom && y + height > top);
  if (near.length === 0) return undefined;
  const points = Array.from({ length: SAMPLES }, (_, at) => along(ends, (at + 1) / (SAMPLES + 1)));
  const hit = near.filter((rect) => points.some((point) => isOver(rect, point)));
  if (hit.length === 0) return undefined;
  const passes = (["above", "below"] as const).flatMap((side) => passing(ends, hit, between, side) ?? []);
  const detour = ({ y }: Route): number => Math.abs(y - from.y) + Math.abs(y - to.y);
  return passes.sort((a, b) => detour(a) - detour(b))[0];
};

export const routePath = ({ from, to }: Pick<Ends, "from" | "to">, { left, right, y }: Route): string => {
  const [first, last] = [(from.x + left) / 2, (right + to.x) / 2];
  return `M${from.x},${from.y} C${first},${from.y} ${first},${y} ${left},${y} L${right},${y} C${last},${y} ${last},${to.y} ${to.x},${to.y}`;
};
