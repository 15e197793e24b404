import { create } from "zustand";
import type { OutputFile } from "../files-in";

/** One thing that is viewed large, with what made it. */
export interface ViewerItem {
  id: string;
  file: OutputFile | undefined;
  text: string | undefined;
  title: string;
  /** Model, settings, price, run: in words. */
  facts: readonly (readonly [name: string, value: string])[];
  prompt?: string | undefined;
  seed?: string | undefined;
}

/** Things of one run, or of one list. */
export interface ViewerSet {
  id: string;
  title: string;
  items: readonly ViewerItem[];
}

export interface Viewer {
  /** Newest first; empty while nothing is viewed. */
  sets: readonly ViewerSet[];
  set: number;
  index: number;
  /** Puts what is viewed on the canvas; where there is one. */
  use: ((item: ViewerItem) => void) | undefined;
}

export const useViewer = create<Viewer>(() => ({ sets: [], set: 0, index: 0, use: undefined }));

/** Opens the viewer over whatever page is shown. */
export const view = (sets: readonly ViewerSet[], at: { set?: number; index?: number; use?: Viewer["use"] } = {}): void =>
  useViewer.setState({ sets, set: at.set ?? 0, index: at.index ?? 0, use: at.use });

export const closeViewer = (): void => useViewer.setState({ sets: [] });

/** Puts what is known better by now in place of a set that is viewed. */
export const replaceInView = (next: ViewerSet): void =>
  useViewer.setState(({ sets }) => ({ sets: sets.map((one) => (one.id === next.id ? next : one)) }));

/** Adds older runs to what is viewed, if it is still that. */
export const addToView = (first: string, sets: readonly ViewerSet[]): void =>
  useViewer.setState((state) => (state.sets[0]?.id === first ? { sets: [...state.sets, ...sets] } : {}));

/** The next thing in a direction: from the last of a run to the first of the one before it. */
export const step = ({ sets, set, index }: Pick<Viewer, "sets" | "set" | "index">, by: 1 | -1): { set: number; index: number } => {
  const next = index + by;
  if (next >= 0 && next < (sets[set]?.items.length ?? 0)) return { set, index: next };
  const other = set + by;
  if (sets[other] === undefined) return { set, index };
  return { set: other, index: by === 1 ? 0 : sets[other].items.length - 1 };
};

/** The same place in another run, or the nearest there is. */
export const inRun = ({ sets, set, index }: Pick<Viewer, "sets" | "set" | "index">, by: 1 | -1): { set: number; index: number } => {
  const other = sets[set + by];
  return other === undefined ? { set, index } : { set: set + by, index: Math.min(index, other.items.length - 1) };
};

/** What something is compared with at first: the same place of the run before, else its neighbour. */
export const counterpart = (viewer: Pick<Viewer, "sets" | "set" | "index">): { set: number; index: number } => {
  const before = inRun(viewer, 1);
  if (before.set !== viewer.set) return before;
  const count = viewer.sets[viewer.set]?.items.length ?? 0;
  return { set: viewer.set, index: count > 1 ? (viewer.index + 1) % count : viewer.index };
};
