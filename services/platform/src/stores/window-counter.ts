import type { RateLimiterRes } from "rate-limiter-flexible";
import type { Redis } from "./redis";

export interface Counted {
  isWithin: boolean;
  /** Everything that was counted in the window. 0 where `remembersExhausted` answered from memory. */
  count: number;
  remaining: number;
  leftMs: number;
}

export interface WindowCounter {
  /** @param limit how many a window takes */
  count(key: string, limit: number): Promise<Counted>;
  uncount(key: string, limit: number): Promise<void>;
  /** How many the window has, without counting one. */
  counted(key: string, limit: number): Promise<number>;
}

export interface WindowCounterOptions {
  redis: Redis;
  keyPrefix: string;
  windowSeconds: number;
  /** Answers for an exhausted key from memory until its window ends. What is beyond the limit is then not counted. */
  remembersExhausted?: boolean;
}

/** Counts in fixed windows, shared by every process, with one Redis round trip. Each process counts by itself while Redis is away. */
export const createWindowCounter = ({
  redis,
  keyPrefix,
  windowSeconds,
  remembersExhausted = false,
}: WindowCounterOptions): WindowCounter => {
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
    counted: async (key, limit) => (await limiterFor(limit).get(key))?.consumedPoints ?? 0,
  };
};
