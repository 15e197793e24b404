import type { RateLimiterRes } from "rate-limiter-flexible";
import type { Redis } from "./redis";

export interface CountResult {
  isWithin: boolean;
  /** Total in the window. 0 if the result came from memory (`remembersExhausted`). */
  count: number;
  remaining: number;
  leftMs: number;
}

export interface WindowCounter {
  /** Counts one attempt. @param limit maximum per window */
  count(key: string, limit: number): Promise<CountResult>;
  uncount(key: string, limit: number): Promise<void>;
  /** Returns the total in the window without counting. */
  counted(key: string, limit: number): Promise<number>;
}

export interface WindowCounterOptions {
  redis: Redis;
  keyPrefix: string;
  windowSeconds: number;
  /** If true, an exhausted key is rejected from memory until its window ends. Attempts above the limit are then not counted. */
  remembersExhausted?: boolean;
}

/**
 * Counts in fixed windows shared by all processes, with one Redis round trip. While Redis is unavailable, each process counts separately.
 */
export const createWindowCounter = ({
  redis,
  keyPrefix,
  windowSeconds,
  remembersExhausted = false,
}: WindowCounterOptions): WindowCounter => {
  const library = require("rate-limiter-flexible") as typeof import("rate-limiter-flexible");
  const limiters = new Map<number, InstanceType<typeof library.RateLimiterRedis>>();
  const limiterFor = (points: number): InstanceType<typeof library.RateLimiterRedis> => {
    const cachedLimiter = limiters.get(points);
    if (cachedLimiter) return cachedLimiter;
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

  const counted = (isWithin: boolean, { consumedPoints, remainingPoints, msBeforeNext }: RateLimiterRes): CountResult => ({
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
    counted: async (key, limit) => (await limiterFor(limit).get(key))?.consumedPoints ?? 0,
  };
};
