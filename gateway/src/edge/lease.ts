import { createHash, randomUUID } from "node:crypto";
import { DomainError } from "@nodeloom/kernel";
import { derivedId, type Logger, type Redis } from "@nodeloom/platform";
import { IDEMPOTENCY_LEASE_MS, IDEMPOTENCY_SECONDS } from "../http/limits";

const RETRY_AFTER_SECONDS = 1;

export const inProgress = (): DomainError =>
  new DomainError("conflict", "IDEMPOTENCY_IN_PROGRESS", "an earlier request with this Idempotency-Key is still in progress: retry", {
    retryAfter: RETRY_AFTER_SECONDS,
  });
export const reused = (): DomainError =>
  new DomainError("conflict", "IDEMPOTENCY_KEY_REUSED", "this Idempotency-Key was used with a different request body: use a new key");

/** Marks a replayed response. */
export const REPLAYED: Readonly<Record<string, string>> = { "Idempotency-Replayed": "true" };
/** Sets the header before an error is rendered; a started response stays as it is. */
export const markReplayed = (response: { headersSent?: boolean; setHeader(name: string, value: string): unknown }): void => {
  if (response.headersSent) return;
  for (const [name, value] of Object.entries(REPLAYED)) response.setHeader(name, value);
};

/** Scope of a key: the route and its decoded parameters, independent of spelling. */
export const resourceOf = (method: string, route: string, params: unknown): string => JSON.stringify([method, route, params]);

/** Id of the work under a key: a UUID from user, resource and key. */
export const keyedId = (userId: string, resource: string, key: string): string => derivedId(userId, resource, key);

/** Hash of query and body. All requests under one key must have the same hash. */
export const fingerprintOf = (query: unknown, bodyText: string): string =>
  createHash("sha256")
    .update(`${JSON.stringify(query)}\n${bodyText}`)
    .digest("base64url");

/** KEYS[1] the lease; ARGV holder. Only the holder can release it. */
const RELEASE = `if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) end return 0`;
/** KEYS[1] the lease; ARGV holder, milliseconds. */
const RENEW = `if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('PEXPIRE', KEYS[1], ARGV[2]) end return 0`;

export interface Leases {
  /**
   * Serializes requests under one key across processes. Without Redis they run in parallel and join the same work.
   * @throws IDEMPOTENCY_IN_PROGRESS, IDEMPOTENCY_KEY_REUSED while another request is in progress
   */
  hold<T>(id: string, fingerprint: string, work: () => Promise<T>): Promise<T>;
  /** Fingerprint of the first request under a key; undefined if there was none or Redis is unavailable. */
  remember(id: string, fingerprint: string): Promise<string | undefined>;
  forget(id: string): Promise<void>;
}

/** Leases in Redis name the process that answers a key; responses are rebuilt from the created resource. */
export const createLeases = ({
  redis,
  keyPrefix,
  logger,
  leaseMs = IDEMPOTENCY_LEASE_MS,
}: {
  redis: Redis;
  keyPrefix: string;
  logger: Logger;
  leaseMs?: number;
}): Leases => {
  const tolerate = (error: Error): undefined => void logger.warn({ reason: error.message }, "idempotency keys are not kept apart now");
  const separator = " ";

  return {
    hold: async (id, fingerprint, work) => {
      const key = `${keyPrefix}answering:${id}`;
      const holder = `${randomUUID()}${separator}${fingerprint}`;
      const isTaken = await redis.set(key, holder, "PX", leaseMs, "NX").catch(tolerate);
      if (isTaken === null) {
        const other = await redis.get(key).catch(tolerate);
        throw other && other.split(separator)[1] !== fingerprint ? reused() : inProgress();
      }
      const renewal = setInterval(() => void redis.eval(RENEW, 1, key, holder, leaseMs).catch(tolerate), leaseMs / 3);
      try {
        return await work();
      } finally {
        clearInterval(renewal);
        await redis.eval(RELEASE, 1, key, holder).catch(tolerate);
      }
    },

    remember: async (id, fingerprint) => {
      const earlier = await redis.set(`${keyPrefix}asked:${id}`, fingerprint, "EX", IDEMPOTENCY_SECONDS, "NX", "GET").catch(tolerate);
      return earlier ?? undefined;
    },

    forget: async (id) => {
      await redis.del(`${keyPrefix}asked:${id}`).catch(tolerate);
    },
  };
};
