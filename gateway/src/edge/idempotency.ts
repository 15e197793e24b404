import { createHash, randomUUID } from "node:crypto";
import { invalidRequest, LIMITS, unavailable, type Reason } from "@nodeloom/kernel";
import { answerPrefix, type Logger, type Redis } from "@nodeloom/platform";
import { inProgress, REPLAYED, reused } from "./lease";
import { IDEMPOTENCY_LEASE_MS, IDEMPOTENCY_SECONDS } from "../http/limits";

export interface RenderedReply {
  status: number;
  headers: Record<string, string>;
  text: string;
}

export interface IdempotentRequest {
  key: string;
  /** Owner of the stored response; it is erased with the account. */
  owner: string;
  /** Caller and resource. Keys of different callers or resources are independent. */
  scope: string;
  /** Hash of query and body; a different hash under the same key is rejected. */
  fingerprint: string;
}

export interface Idempotency {
  /**
   * Answers a request at most once. All attempts under one key share an execution id, so that a retry after a crash joins the first run.
   * Responses that invite a retry (429, and 5xx except failed runs) aren't stored.
   * @throws IDEMPOTENCY_IN_PROGRESS, IDEMPOTENCY_KEY_REUSED, SERVICE_UNAVAILABLE (the store is unavailable)
   */
  once(request: IdempotentRequest, work: (executionId: string) => Promise<RenderedReply>): Promise<RenderedReply>;
}

/** Printable ASCII that no proxy trims. */
export const IDEMPOTENCY_KEY = /^[!-~]([ -~]*[!-~])?$/;
const TOO_MANY_REQUESTS = 429;
const FIRST_SERVER_ERROR = 500;

/** The checked Idempotency-Key of a request; undefined if it has none. */
export const idempotencyKey = (header: string | string[] | undefined): string | undefined => {
  if (header === undefined) return undefined;
  if (typeof header === "string" && header.length <= LIMITS.idempotencyKeyChars && IDEMPOTENCY_KEY.test(header)) return header;
  throw invalidRequest([{ path: "Idempotency-Key", message: `must be 1 to ${LIMITS.idempotencyKeyChars} printable ASCII characters` }]);
};

/**
 * KEYS[1] the record; ARGV fingerprint, execution id, token, lease (ms), lifetime (s), owner. The record is a hash. Its lease holder does
 * the work; an expired lease can be taken over.
 */
const BEGIN = `
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local stored = redis.call('HMGET', KEYS[1], 'fingerprint', 'executionId', 'leaseUntil', 'reply')
if not stored[1] then
  redis.call('HSET', KEYS[1], 'fingerprint', ARGV[1], 'executionId', ARGV[2], 'token', ARGV[3], 'leaseUntil', now + ARGV[4], 'owner', ARGV[6])
  redis.call('EXPIRE', KEYS[1], ARGV[5])
  return {'work', ARGV[2]}
end
if stored[1] ~= ARGV[1] then return {'reused'} end
if stored[4] then return {'done', stored[4]} end
if tonumber(stored[3]) > now then return {'busy'} end
redis.call('HSET', KEYS[1], 'token', ARGV[3], 'leaseUntil', now + ARGV[4])
return {'work', stored[2]}`;

/** KEYS[1] the record; ARGV token, lease (ms; 0 releases it). */
const RENEW = `
if redis.call('HGET', KEYS[1], 'token') ~= ARGV[1] then return 0 end
local time = redis.call('TIME')
redis.call('HSET', KEYS[1], 'leaseUntil', time[1] * 1000 + math.floor(time[2] / 1000) + ARGV[2])
return 1`;

/** KEYS[1] the record; ARGV token, reply, lifetime (s). */
const FINISH = `
if redis.call('HGET', KEYS[1], 'token') ~= ARGV[1] then return 0 end
redis.call('HSET', KEYS[1], 'reply', ARGV[2])
redis.call('EXPIRE', KEYS[1], ARGV[3])
return 1`;

type ClaimOutcome = ["work", executionId: string] | ["done", reply: string] | ["busy"] | ["reused"];

const digest = (text: string): string => createHash("sha256").update(text).digest("base64url");

/** Codes of failed runs. They are stored, because a retry under the key would join the same run. */
const RUN_FAILURES: ReadonlySet<unknown> = new Set<Reason>([
  "EXECUTION_FAILED",
  "OUTGOING_LIMIT_EXCEEDED",
  "PROVIDER_SUBMIT_FAILED",
  "PROVIDER_RESPONSE_INCOMPLETE",
]);

const isFinal = ({ status, text }: RenderedReply): boolean => {
  if (status < FIRST_SERVER_ERROR) return status !== TOO_MANY_REQUESTS;
  return RUN_FAILURES.has((JSON.parse(text) as { code?: unknown }).code);
};

export interface IdempotencyOptions {
  redis: Redis;
  keyPrefix: string;
  logger: Logger;
  leaseMs?: number;
}

export const createIdempotency = ({ redis, keyPrefix, logger, leaseMs = IDEMPOTENCY_LEASE_MS }: IdempotencyOptions): Idempotency => {
  const begin = (record: string, fingerprint: string, token: string, owner: string): Promise<ClaimOutcome> =>
    redis.eval(BEGIN, 1, record, fingerprint, randomUUID(), token, leaseMs, IDEMPOTENCY_SECONDS, owner).catch(() => {
      throw unavailable("the store of idempotency keys is unavailable: retry with the same key");
    }) as Promise<ClaimOutcome>;

  /** If the store fails now, only the replay is lost: the lease expires, and a retry joins the same run. */
  const tolerate = (error: Error): void => logger.warn({ reason: error.message }, "idempotency record was not updated");

  const perform = async (record: string, token: string, work: () => Promise<RenderedReply>): Promise<RenderedReply> => {
    const renewal = setInterval(() => void redis.eval(RENEW, 1, record, token, leaseMs).catch(tolerate), leaseMs / 3);
    try {
      const reply = await work();
      if (isFinal(reply)) await redis.eval(FINISH, 1, record, token, JSON.stringify(reply), IDEMPOTENCY_SECONDS).catch(tolerate);
      else await redis.eval(RENEW, 1, record, token, 0).catch(tolerate);
      return reply;
    } finally {
      clearInterval(renewal);
    }
  };

  return {
    once: async ({ key, owner, scope, fingerprint }, work) => {
      const record = `${answerPrefix(keyPrefix)}${digest(`${scope}\n${key}`)}`;
      const token = randomUUID();
      const beginning = await begin(record, fingerprint, token, owner);
      switch (beginning[0]) {
        case "work":
          return perform(record, token, () => work(beginning[1]));
        case "done": {
          const stored = JSON.parse(beginning[1]) as RenderedReply;
          return { ...stored, headers: { ...stored.headers, ...REPLAYED } };
        }
        case "busy":
          throw inProgress();
        case "reused":
          throw reused();
      }
    },
  };
};
