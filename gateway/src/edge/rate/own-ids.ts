import { LRUCache } from "lru-cache";

export interface OwnIds {
  has(userId: string, id: string): boolean;
  add(userId: string, id: string): void;
}

export const createOwnIds = (maxEntries: number): OwnIds => {
  const seen = new LRUCache<string, true>({ max: maxEntries });
  return {
    has: (userId, id) => seen.get(`${userId} ${id}`) ?? false,
    add: (userId, id) => void seen.set(`${userId} ${id}`, true),
  };
};
