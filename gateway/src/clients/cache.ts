import { isUnavailable } from "@nodeloom/kernel";
import { LRUCache } from "lru-cache";

export interface FreshCacheOptions<T> {
  maxEntries: number;
  /** Entries younger than this are returned without a request to the source. */
  freshMs: number;
  /** Entries younger than this are returned while the source is unavailable. */
  staleMs: number;
  load(key: string): Promise<T>;
  now?(): number;
}

export interface FreshCache<T> {
  /** `key` names the entry. `source` is passed to the loader; it may be secret, and isn't stored. */
  get(key: string, source: string): Promise<T>;
  /** Drops entries and results of loads in progress, which can predate the change. */
  invalidate(matches: (value: T) => boolean): void;
}

/** A cache with a short maximum age. Concurrent misses share one load. */
export const createFreshCache = <T extends object>({
  maxEntries,
  freshMs,
  staleMs,
  load,
  now = Date.now,
}: FreshCacheOptions<T>): FreshCache<T> => {
  const entries = new LRUCache<string, { value: T; loadedAtMs: number }>({ max: maxEntries });
  const loading = new Map<string, Promise<T>>();

  const reload = (key: string, source: string): Promise<T> => {
    const loadedAtMs = now();
    const started: Promise<T> = load(source).then(
      (value) => {
        if (loading.get(key) === started) {
          loading.delete(key);
          entries.set(key, { value, loadedAtMs });
        }
        return value;
      },
      (error: unknown) => {
        if (loading.get(key) === started) loading.delete(key);
        if (!isUnavailable(error)) entries.delete(key);
        throw error;
      },
    );
    loading.set(key, started);
    return started;
  };

  return {
    get: async (key, source) => {
      const entry = entries.get(key);
      if (entry && now() - entry.loadedAtMs < freshMs) return entry.value;
      try {
        return await (loading.get(key) ?? reload(key, source));
      } catch (error) {
        const lastEntry = entries.get(key);
        if (lastEntry && isUnavailable(error) && now() - lastEntry.loadedAtMs < staleMs) return lastEntry.value;
        throw error;
      }
    },
    invalidate: (matches) => {
      loading.clear();
      for (const [key, { value }] of entries.entries()) if (matches(value)) entries.delete(key);
    },
  };
};
