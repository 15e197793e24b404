import type { Area } from "./graph";

/** Positions of imported nodes, without the gaps that skipped nodes would leave. */

export interface NodePosition {
  id: string;
  x: number;
  y: number;
}

const SIZE = { width: 280, height: 320 };
const GAP = 60;
/** Margin around the nodes of a group; the title is above it. */
const MARGIN = 32;
const TITLE = 44;

const closeGaps = <Item extends NodePosition>(items: readonly Item[], axis: "x" | "y", size: number): Item[] => {
  let [end, by] = [-Infinity, 0];
  const places = new Map<number, number>();
  for (const at of [...new Set(items.map((item) => item[axis]))].sort((a, b) => a - b)) {
    if (at + by > end + GAP && end !== -Infinity) by = end + GAP - at;
    places.set(at, at + by);
    end = Math.max(end, at + by + size);
  }
  return items.map((item) => ({ ...item, [axis]: Math.round(places.get(item[axis])!) }));
};

const overlaps = (a: NodePosition, b: NodePosition): boolean =>
  Math.abs(a.x - b.x) < SIZE.width + GAP / 2 && Math.abs(a.y - b.y) < SIZE.height + GAP / 2;

/** Moves nodes down until they don't overlap. */
const apart = <Item extends NodePosition>(items: readonly Item[]): Item[] => {
  const placed: Item[] = [];
  for (const item of items.toSorted((a, b) => a.y - b.y || a.x - b.x)) {
    let at = item;
    for (let hit = placed.find((other) => overlaps(other, at)); hit; hit = placed.find((other) => overlaps(other, at)))
      at = { ...at, y: hit.y + SIZE.height + GAP / 2 };
    placed.push(at);
  }
  return placed;
};

export const arranged = <Item extends NodePosition>(items: readonly Item[]): Item[] =>
  apart(closeGaps(closeGaps(items, "x", SIZE.width), "y", SIZE.height));

const contains = ({ x, y, width, height }: Area, at: { x: number; y: number }): boolean =>
  at.x >= x - 1 && at.x < x + width && at.y >= y - 1 && at.y < y + height;

export interface Frames {
  frames: Area[];
  /** Titles of groups with a single node, by the node's id. */
  titles: Map<string, string>;
  /** Titles of groups whose frame would contain nodes from outside. */
  omitted: string[];
}

/** Frames around the nodes of each group. A group gets none if other nodes are now inside its frame. */
export const framesAround = (
  groups: readonly Area[],
  before: readonly NodePosition[],
  after: ReadonlyMap<string, NodePosition>,
): Frames => {
  const layout: Frames = { frames: [], titles: new Map(), omitted: [] };
  const visited = new Set<string>();
  for (const group of groups) {
    const inside = before.filter((item) => contains(group, item)).map(({ id }) => after.get(id)!);
    const key = inside.map(({ id }) => id).join(" ");
    if (inside.length === 0 || visited.has(key)) continue;
    visited.add(key);
    if (inside.length === 1) {
      layout.titles.set(key, group.title);
      continue;
    }
    const [x, y] = [Math.min(...inside.map((item) => item.x)) - MARGIN, Math.min(...inside.map((item) => item.y)) - MARGIN - TITLE];
    const right = Math.max(...inside.map((item) => item.x)) + SIZE.width + MARGIN;
    const bottom = Math.max(...inside.map((item) => item.y)) + SIZE.height + MARGIN;
    const frame = { title: group.title, x, y, width: right - x, height: bottom - y };
    const isShared = [...after.values()].some((item) => contains(frame, item) && !inside.includes(item));
    if (isShared) layout.omitted.push(group.title);
    else layout.frames.push(frame);
  }
  return layout;
};
