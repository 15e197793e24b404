import type { RateLimiterRes } from "rate-limiter-flexible";
import type { Redis } from "./redis";

/** How a count stands after something was counted. */
export interface Counted {
  /** Whether it was within the limit. */
  isWithin: boolean;
  /** What was counted in the window, with this and with what was not within. 0 where that is not known: see `remembersExhausted`. */
  count: number;
  remaining: number;
  /** Until the window ends. */
  leftMs: number;
}

export interface WindowCounter {
  /** Counts one more. @param limit how many a window takes */
  count(key: string, limit: number): Promise<Counted>;
  /** Takes back one that was within. */
  uncount(key: string, limit: number): Promise<void>;
}

export interface WindowCounterOptions {
  redis: Redis;
  keyPrefix: string;
  windowSeconds: number;
  /** Answers for a key that is exhausted from memory until its window ends, without Redis; what is beyond the limit is then not counted. */
  remembersExhausted?: boolean;
}

/**
 * Counts in fixed windows, shared by every process; one Redis round trip. While Redis is away a counter of this process
 * takes over; that it is back is found out by the next call.
 */
export const createWindowCounter = ({
  redis,
  keyPrefix,
  windowSeconds,
  remembersExhausted = false,
}: WindowCounterOptions): WindowCounter => {
  // Loaded here, so that processes without limits don't pay for it.
  const library = require("rate-limiter-flexible") as typeof import("rate-limiter-flexible");
  const limiters = new Map<number, InstanceType<typeof library.RateLimiterRedis>>();
  const limiterFor = (points: number): InstanceType<typeof library.RateLimiterRedis> => {
    const known = limiters.get(points);
    if (known) return known;
    const settings = { keyPrefix, points, duration: windowSeconds };
    const limiter = new library.RateLimiterRedis({
      ...settings,
      storeClient: redis,
      rejectIfRedisNotReady: true,
      ...(remembersExhausted ? { inMemoryBlockOnConsumed: points } : {}),
      insuranceLimiter: new library.RateLimiterMemory(settings),
    });
    limiters.set(points, limiter);
    return limiter;
  };

  const counted = (isWithin: boolean, { consumedPoints, remainingPoints, msBeforeNext }: RateLimiterRes): Counted => ({
    isWithin,
    count: consumedPoints,
    remaining: Math.max(0, remainingPoints),
    leftMs: msBeforeNext,
  });

  return {
    count: async (key, limit) => {
      try {
        return counted(true, await limiterFor(limit).consume(key));
      } catch (rejected) {
        if (!(rejected instanceof library.RateLimiterRes)) throw rejected;
        return counted(false, rejected);
      }
    },
    uncount: async (key, limit) => {
      await limiterFor(limit).reward(key);
    },
  };
};
