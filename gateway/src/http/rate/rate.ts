import { DomainError } from "@nodeloom/kernel";
import type { Redis } from "@nodeloom/platform";
import { LRUCache } from "lru-cache";
import { RateLimiterMemory, RateLimiterRedis, RateLimiterRes } from "rate-limiter-flexible";
import { rateLimitExceeded } from "../errors";
import { EXHAUSTED_BUCKETS, RATE_WINDOW_SECONDS } from "../limits";

export interface Bucket {
  /** What is counted: caller or address, and route. */
  key: string;
  /** Requests per window. */
  points: number;
  /** Reported on 429. */
  tier: string;
}

export interface RateLimits {
  /**
   * Counts one request in a fixed window, shared by every gateway; one Redis round trip. While Redis is away a counter
   * of this process takes over. Answers the X-RateLimit headers.
   * @throws RATE_LIMIT_EXCEEDED; `rateLimitHeaders` gives that reply's headers.
   */
  consume(bucket: Bucket): Promise<Record<string, string>>;
  /** Refuses, without counting, what this process knows to be exhausted. @throws RATE_LIMIT_EXCEEDED */
  refuseExhausted(bucket: Bucket): void;
}

const MS = 1_000;

const headersOf = (points: number, result: RateLimiterRes, nowMs: number): Record<string, string> => ({
  "X-RateLimit-Limit": String(points),
  "X-RateLimit-Remaining": String(Math.max(0, result.remainingPoints)),
  "X-RateLimit-Reset": String(Math.ceil((nowMs + result.msBeforeNext) / MS)),
});

const EXCEEDED_HEADERS = new WeakMap<object, Record<string, string>>();

/** Of a limit that another service counts: its headers, not those of the route that was within its own. */
const countedElsewhere = ({ metadata: { limit, retryAfter } }: DomainError): Record<string, string> | undefined =>
  typeof limit === "number" && typeof retryAfter === "number"
    ? {
        "X-RateLimit-Limit": String(limit),
        "X-RateLimit-Remaining": "0",
        "X-RateLimit-Reset": String(Math.ceil(Date.now() / MS + retryAfter)),
      }
    : undefined;

/** The headers that a RATE_LIMIT_EXCEEDED carries; undefined for any other error. */
export const rateLimitHeaders = (error: unknown): Record<string, string> | undefined =>
  error instanceof DomainError && error.reason === "RATE_LIMIT_EXCEEDED"
    ? (EXCEEDED_HEADERS.get(error) ?? countedElsewhere(error))
    : undefined;

export interface RateLimitsOptions {
  redis: Redis;
  keyPrefix: string;
}

export const createRateLimits = ({ redis, keyPrefix }: RateLimitsOptions): RateLimits => {
  const limiters = new Map<number, RateLimiterRedis>();
  const limiterFor = (points: number): RateLimiterRedis => {
    const known = limiters.get(points);
    if (known) return known;
    const settings = { keyPrefix: `${keyPrefix}rate`, points, duration: RATE_WINDOW_SECONDS };
    const limiter = new RateLimiterRedis({
      ...settings,
      storeClient: redis,
      rejectIfRedisNotReady: true,
      // An exhausted bucket is refused from memory until its window ends.
      inMemoryBlockOnConsumed: points,
      insuranceLimiter: new RateLimiterMemory(settings),
    });
    limiters.set(points, limiter);
    return limiter;
  };

  /** When buckets that were found exhausted begin anew. */
  const exhausted = new LRUCache<string, number>({ max: EXHAUSTED_BUCKETS });

  const exceeded = ({ points, tier }: Bucket, result: RateLimiterRes): DomainError => {
    const error = rateLimitExceeded({ tier, limit: points, retryAfter: Math.max(1, Math.ceil(result.msBeforeNext / MS)) });
    EXCEEDED_HEADERS.set(error, headersOf(points, result, Date.now()));
    return error;
  };

  return {
    consume: async (bucket) => {
      const { key, points } = bucket;
      try {
        const result = await limiterFor(points).consume(key);
        return headersOf(points, result, Date.now());
      } catch (rejected) {
        if (!(rejected instanceof RateLimiterRes)) throw rejected;
        exhausted.set(key, Date.now() + rejected.msBeforeNext);
        throw exceeded(bucket, rejected);
      }
    },
    refuseExhausted: (bucket) => {
      const leftMs = (exhausted.get(bucket.key) ?? 0) - Date.now();
      if (leftMs > 0) throw exceeded(bucket, new RateLimiterRes(0, leftMs));
    },
  };
};
