import { LRUCache } from "lru-cache";

export interface OwnIds {
  /** Whether this process has seen that an id is its caller's. */
  has(userId: string, id: string): boolean;
  add(userId: string, id: string): void;
}

/** Ids that were seen to be their callers'. */
export const createOwnIds = (maxEntries: number): OwnIds => {
  const seen = new LRUCache<string, true>({ max: maxEntries });
  return {
    has: (userId, id) => seen.get(`${userId} ${id}`) ?? false,
    add: (userId, id) => void seen.set(`${userId} ${id}`, true),
  };
};
