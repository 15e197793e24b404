import { DomainError } from "@nodeloom/kernel";
import { createWindowCounter, type CountResult, type Redis } from "@nodeloom/platform";
import { LRUCache } from "lru-cache";
import { rateLimitExceeded } from "../../http/errors";
import { EXHAUSTED_BUCKETS, RATE_WINDOW_SECONDS } from "../../http/limits";

export interface Bucket {
  /** Caller or address, and route. */
  key: string;
  points: number;
  /** Included in 429 responses. */
  tier: string;
}

export interface RateLimits {
  /**
   * Counts a request in a fixed window shared by all gateways, with one Redis round trip. While Redis is unavailable, a local counter takes
   * over. Returns the X-RateLimit headers.
   * @throws RATE_LIMIT_EXCEEDED; `rateLimitHeaders` gives that reply's headers
   */
  consume(bucket: Bucket): Promise<Record<string, string>>;
  /** Rejects, without counting, if this process knows that the bucket is exhausted. @throws RATE_LIMIT_EXCEEDED */
  refuseExhausted(bucket: Bucket): void;
}

const MS = 1_000;

type Standing = Pick<CountResult, "remaining" | "leftMs">;

const headersOf = (points: number, { remaining, leftMs }: Standing, nowMs: number): Record<string, string> => ({
  "X-RateLimit-Limit": String(points),
  "X-RateLimit-Remaining": String(remaining),
  "X-RateLimit-Reset": String(Math.ceil((nowMs + leftMs) / MS)),
});

const EXCEEDED_HEADERS = new WeakMap<object, Record<string, string>>();

/** Headers of a limit counted by another service, such as failed sign-ins. */
const countedElsewhere = ({ metadata: { limit, retryAfter } }: DomainError): Record<string, string> | undefined =>
  typeof limit === "number" && typeof retryAfter === "number"
    ? {
        "X-RateLimit-Limit": String(limit),
        "X-RateLimit-Remaining": "0",
        "X-RateLimit-Reset": String(Math.ceil(Date.now() / MS + retryAfter)),
      }
    : undefined;

/** Headers of a RATE_LIMIT_EXCEEDED; undefined for other errors. */
export const rateLimitHeaders = (error: unknown): Record<string, string> | undefined =>
  error instanceof DomainError && error.reason === "RATE_LIMIT_EXCEEDED"
    ? (EXCEEDED_HEADERS.get(error) ?? countedElsewhere(error))
    : undefined;

export interface RateLimitsOptions {
  redis: Redis;
  keyPrefix: string;
}

export const createRateLimits = ({ redis, keyPrefix }: RateLimitsOptions): RateLimits => {
  const counter = createWindowCounter({
    redis,
    keyPrefix: `${keyPrefix}rate`,
    windowSeconds: RATE_WINDOW_SECONDS,
    remembersExhausted: true,
  });

  /** Times at which exhausted buckets reset. */
  const exhausted = new LRUCache<string, number>({ max: EXHAUSTED_BUCKETS });

  const exceeded = ({ points, tier }: Bucket, standing: Standing): DomainError => {
    const error = rateLimitExceeded({ tier, limit: points, retryAfter: Math.max(1, Math.ceil(standing.leftMs / MS)) });
    EXCEEDED_HEADERS.set(error, headersOf(points, standing, Date.now()));
    return error;
  };

  return {
    consume: async (bucket) => {
      const { key, points } = bucket;
      const counted = await counter.count(key, points);
      if (counted.isWithin) return headersOf(points, counted, Date.now());
      exhausted.set(key, Date.now() + counted.leftMs);
      throw exceeded(bucket, counted);
    },
    refuseExhausted: (bucket) => {
      const leftMs = (exhausted.get(bucket.key) ?? 0) - Date.now();
      if (leftMs > 0) throw exceeded(bucket, { remaining: 0, leftMs });
    },
  };
};
