/** Removes an account's keys in Redis: sessions and stored answers. */
import type { Redis } from "@nodeloom/platform";

const PAGE = 500;

export interface RedisErasureOptions {
  redis: Redis;
  keyPrefix: string;
}

export type RedisErasure = ReturnType<typeof createRedisErasure>;

const ownerOfSession = (json: string | null): unknown => {
  try {
    return json === null ? undefined : (JSON.parse(json) as { userId?: unknown }).userId;
  } catch {
    return undefined;
  }
};

export const createRedisErasure = ({ redis, keyPrefix }: RedisErasureOptions) => {
  /** Scans all keys of a kind. That is acceptable, because the keys expire soon and erasures are rare. */
  const removeWhere = async (kind: string, isMeant: (keys: string[]) => Promise<string[]>): Promise<number> => {
    let [cursor, removed] = ["0", 0];
    do {
      const [next, keys] = await redis.scan(cursor, "MATCH", `${keyPrefix}${kind}*`, "COUNT", PAGE);
      const keysToErase = keys.length === 0 ? [] : await isMeant(keys);
      if (keysToErase.length > 0) removed += await redis.del(...keysToErase);
      cursor = next;
    } while (cursor !== "0");
    return removed;
  };

  return {
    removeSessions: (userId: string): Promise<number> =>
      removeWhere("session:", async (keys) => {
        const sessions = await redis.mget(...keys);
        return keys.filter((_, index) => ownerOfSession(sessions[index] ?? null) === userId);
      }),
    removeAnswers: (userId: string): Promise<number> =>
      removeWhere("idempotency:", async (keys) => {
        const owners = await Promise.all(keys.map((key) => redis.hget(key, "owner")));
        return keys.filter((_, index) => owners[index] === userId);
      }),
    forgetRuns: async (executionIds: readonly string[]): Promise<void> => {
      const keys = executionIds.flatMap((id) => ["asked:", "called-off:", "answering:"].map((kind) => `${keyPrefix}${kind}${id}`));
      if (keys.length > 0) await redis.del(...keys);
    },
  };
};
