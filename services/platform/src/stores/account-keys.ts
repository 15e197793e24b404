/** Redis keys with an account's data. The gateway writes them, and identity erases them with the account. */
import { scanKeys, type Redis } from "./redis";

const PAGE = 500;

export interface AccountKeysOptions {
  redis: Redis;
  keyPrefix: string;
}

/** Prefix of sessions, which are JSON with `userId`. */
export const sessionPrefix = (keyPrefix: string): string => `${keyPrefix}session:`;
/** Prefix of stored responses for an Idempotency-Key, which are hashes with `owner`. */
export const answerPrefix = (keyPrefix: string): string => `${keyPrefix}idempotency:`;

const ownerOfSession = (json: string | null): unknown => {
  try {
    return json === null ? undefined : (JSON.parse(json) as { userId?: unknown }).userId;
  } catch {
    return undefined;
  }
};

/** Functions that delete an account's keys. Each returns the number of deleted keys. */
export const createAccountKeys = ({ redis, keyPrefix }: AccountKeysOptions) => {
  /** Scans all keys of a kind. That is acceptable, because the keys expire soon and erasures are rare. */
  const removeWhere = async (prefix: string, ownerOf: (key: string) => Promise<unknown>, ownerId: string): Promise<number> => {
    let removed = 0;
    for await (const keys of scanKeys(redis, `${prefix}*`, PAGE)) {
      const owners = await Promise.all(keys.map(ownerOf));
      const owned = keys.filter((_, index) => owners[index] === ownerId);
      // A cluster takes one key per command.
      for (const count of await Promise.all(owned.map((key) => redis.del(key)))) removed += count;
    }
    return removed;
  };

  return {
    removeSessions: (userId: string): Promise<number> =>
      removeWhere(sessionPrefix(keyPrefix), async (key) => ownerOfSession(await redis.get(key)), userId),
    removeAnswers: (ownerId: string): Promise<number> => removeWhere(answerPrefix(keyPrefix), (key) => redis.hget(key, "owner"), ownerId),
  };
};

export type AccountKeys = ReturnType<typeof createAccountKeys>;
