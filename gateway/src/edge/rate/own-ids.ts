import { LRUCache } from "lru-cache";

export interface OwnIds {
  has(userId: string, id: string): boolean;
  add(userId: string, id: string): void;
}

export const createOwnIds = (maxEntries: number): OwnIds => {
  const knownIds = new LRUCache<string, true>({ max: maxEntries });
  return {
    has: (userId, id) => knownIds.get(`${userId} ${id}`) ?? false,
    add: (userId, id) => void knownIds.set(`${userId} ${id}`, true),
  };
};
