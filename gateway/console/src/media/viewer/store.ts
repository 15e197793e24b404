import { create } from "zustand";
import type { OutputFile } from "../files-in";

export interface ViewerItem {
  id: string;
  file: OutputFile | undefined;
  text: string | undefined;
  title: string;
  /** Model, settings, price and run, as texts; undefined while they are loaded. */
  facts: readonly (readonly [name: string, value: string])[] | undefined;
  prompt?: string | undefined;
  seed?: string | undefined;
}

/** Items of one run or list. */
export interface ViewerSet {
  id: string;
  title: string;
  items: readonly ViewerItem[];
}

export interface Viewer {
  /** Newest first; empty while the viewer is closed. */
  sets: readonly ViewerSet[];
  set: number;
  index: number;
  /** True to begin with a comparison of the first two sets. */
  compares: boolean;
  /** Adds an item to the canvas, if the page has one. */
  use: ((item: ViewerItem) => void) | undefined;
}

export const useViewer = create<Viewer>(() => ({ sets: [], set: 0, index: 0, compares: false, use: undefined }));

/** Opens the viewer above any page. */
export const view = (sets: readonly ViewerSet[], at: Partial<Omit<Viewer, "sets">> = {}): void =>
  useViewer.setState({ sets, set: at.set ?? 0, index: at.index ?? 0, compares: at.compares ?? false, use: at.use });

export const closeViewer = (): void => useViewer.setState({ sets: [] });

/** Replaces a viewed set by a more complete one. The viewed item stays, at its new position. Items that the new set lacks also stay. */
export const replaceInView = (next: ViewerSet): void =>
  useViewer.setState(({ sets, set, index }) => {
    const at = sets.findIndex(({ id }) => id === next.id);
    const before = sets[at];
    if (!before) return {};
    const nextIds = new Set(next.items.map(({ id }) => id));
    const lacking = before.items.filter(({ id }) => !nextIds.has(id)).map((item) => ({ ...item, facts: item.facts ?? [] }));
    const items = [...next.items, ...lacking];
    const viewedAt = items.findIndex(({ id }) => id === before.items[index]?.id);
    return { sets: sets.with(at, { ...next, items }), ...(at === set && viewedAt >= 0 && { index: viewedAt }) };
  });

/** Adds earlier runs, if the viewer still shows that set. */
export const addToView = (first: string, sets: readonly ViewerSet[]): void =>
  useViewer.setState((state) => (state.sets[0]?.id === first ? { sets: [...state.sets, ...sets] } : {}));

/** Next item in a direction. The last item of a run is followed by the first item of the run before. */
export const step = ({ sets, set, index }: Pick<Viewer, "sets" | "set" | "index">, by: 1 | -1): { set: number; index: number } => {
  const next = index + by;
  if (next >= 0 && next < (sets[set]?.items.length ?? 0)) return { set, index: next };
  const other = set + by;
  if (sets[other] === undefined) return { set, index };
  return { set: other, index: by === 1 ? 0 : sets[other].items.length - 1 };
};

/** Index in another run: the current index, or the nearest one. */
export const inRun = ({ sets, set, index }: Pick<Viewer, "sets" | "set" | "index">, by: 1 | -1): { set: number; index: number } => {
  const other = sets[set + by];
  return other === undefined ? { set, index } : { set: set + by, index: Math.min(index, other.items.length - 1) };
};

/** Initial comparison: the same index in the run before, or else the neighbour. */
export const counterpart = (viewer: Pick<Viewer, "sets" | "set" | "index">): { set: number; index: number } => {
  const before = inRun(viewer, 1);
  if (before.set !== viewer.set) return before;
  const count = viewer.sets[viewer.set]?.items.length ?? 0;
  return { set: viewer.set, index: count > 1 ? (viewer.index + 1) % count : viewer.index };
};
