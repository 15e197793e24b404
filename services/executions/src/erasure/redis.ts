/** Removes an account's keys in Redis: sessions and stored answers. */
import { scanKeys, type Redis } from "@nodeloom/platform";

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
  /** Removes keys one by one, because a cluster takes one key per command. */
  const remove = async (keys: readonly string[]): Promise<number> => {
    const removed = await Promise.all(keys.map((key) => redis.del(key)));
    return removed.reduce((sum, count) => sum + count, 0);
  };

  /** Scans all keys of a kind. That is acceptable, because the keys expire soon and erasures are rare. */
  const removeWhere = async (kind: string, ownerOf: (key: string) => Promise<unknown>, userId: string): Promise<number> => {
    let removed = 0;
    for await (const keys of scanKeys(redis, `${keyPrefix}${kind}*`, PAGE)) {
      const owners = await Promise.all(keys.map(ownerOf));
      removed += await remove(keys.filter((_, index) => owners[index] === userId));
    }
    return removed;
  };

  return {
    removeSessions: (userId: string): Promise<number> =>
      removeWhere("session:", async (key) => ownerOfSession(await redis.get(key)), userId),
    removeAnswers: (userId: string): Promise<number> => removeWhere("idempotency:", (key) => redis.hget(key, "owner"), userId),
    forgetRuns: async (executionIds: readonly string[]): Promise<void> => {
      await remove(executionIds.flatMap((id) => ["asked:", "called-off:", "answering:"].map((kind) => `${keyPrefix}${kind}${id}`)));
    },
  };
};
