import type { IdentityChange } from "@nodeloom/platform";
import { LRUCache } from "lru-cache";
import type { KeyRecord } from "./records";
import type { KeyHolder } from "../organizations/accounts";

/**
 * Maximum age of a cached key. A revocation must take effect everywhere within one second, even without messages (Redis is down or the
 * publisher stopped). Half of that second is left for a caller that also caches.
 */
export const CACHE_TTL_MS = 500;
const MAX_ENTRIES = 10_000;

/** A key with its owner and creator, all from one read. */
export interface ResolvedKey extends KeyHolder {
  key: KeyRecord;
}

export interface KeyCache {
  /** Returns the key with this hash, at most as old as the TTL. Null isn't cached. */
  get(hash: string): Promise<ResolvedKey | null>;
  /** Removes entries that a change made outdated. */
  forget(change: IdentityChange): void;
}

export interface KeyCacheOptions {
  load(hash: string): Promise<ResolvedKey | null>;
  ttlMs?: number;
}

const concerns = ({ key, user, person }: ResolvedKey, { type, id }: IdentityChange): boolean =>
  (type === "key" && key._id === id) ||
  (type === "user" && [user.id, person.id, user.organization?.tierOf].includes(id)) ||
  (type === "organization" && user.id === id) ||
  (type === "tier" && user.tier === id);

/** Caches keys briefly. Concurrent callers share one lookup. */
export const createKeyCache = ({ load, ttlMs = CACHE_TTL_MS }: KeyCacheOptions): KeyCache => {
  const entries = new LRUCache<string, ResolvedKey>({ max: MAX_ENTRIES, ttl: ttlMs });
  const loading = new Map<string, { startedAt: number; result: Promise<ResolvedKey | null> }>();
  /** Counts changes. A key that was read before a change may be outdated and isn't cached. */
  let changes = 0;

  const read = async (hash: string, startedAt: number): Promise<ResolvedKey | null> => {
    const before = changes;
    const resolved = await load(hash);
    // An entry's age counts from the start of its lookup, because the result of a slow lookup is already old.
    if (resolved && changes === before) entries.set(hash, resolved, { start: startedAt });
    return resolved;
  };

  const share = (hash: string): Promise<ResolvedKey | null> => {
    const startedAt = performance.now();
    const running = loading.get(hash);
    if (running && startedAt - running.startedAt < ttlMs) return running.result;
    const result = read(hash, startedAt).finally(() => {
      if (loading.get(hash)?.result === result) loading.delete(hash);
    });
    loading.set(hash, { startedAt, result });
    return result;
  };

  return {
    get: async (hash) => entries.get(hash) ?? share(hash),
    forget: (change) => {
      changes += 1;
      loading.clear();
      const stale = [...entries.entries()].filter(([, entry]) => concerns(entry, change));
      for (const [hash] of stale) entries.delete(hash);
    },
  };
};
