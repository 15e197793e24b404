/** Shares what the items of a batch look up. All items run the same pinned graphs, so each lookup is made about once a second. */
import type { PinnedGraphs } from "./kept-graphs";

interface Lookup<T> {
  value: Promise<T>;
  until: number;
}

export type PinnedReads<T> = (pinned: PinnedGraphs | undefined, read: () => Promise<T>) => Promise<T>;

/**
 * Keeps the result of a lookup with the pinned graphs of a batch. The garbage collector removes it with the graphs. A lookup that fails isn't
 * kept.
 * @param keptMs after this time, a workflow that was changed or is no longer accessible is read again
 */
export const createPinnedReads = <T>(keptMs: number): PinnedReads<T> => {
  const lookups = new WeakMap<PinnedGraphs, Lookup<T>>();
  return (pinned, read) => {
    if (!pinned) return read();
    const lastLookup = lookups.get(pinned);
    if (lastLookup && lastLookup.until > Date.now()) return lastLookup.value;
    const lookup = { value: read(), until: Date.now() + keptMs };
    lookups.set(pinned, lookup);
    lookup.value.catch(() => lookups.get(pinned) === lookup && lookups.delete(pinned));
    return lookup.value;
  };
};
