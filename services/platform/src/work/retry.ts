/** work/: how work is retried, batched, swept and stopped. */
import { setTimeout as delay } from "node:timers/promises";

export interface RetryOptions {
  /** Pauses before further attempts, in milliseconds. A failure after the last pause is final. */
  pausesMs: Iterable<number>;
  /** Returns the pause in milliseconds that the error requests. */
  askedMs?: (error: unknown) => number | undefined;
  /** Returns whether another attempt can succeed. Default: always true. */
  shouldRetry?: (error: unknown) => boolean;
  signal?: AbortSignal | undefined;
  /** A pause doesn't start if it would end after this time, in milliseconds since the epoch. */
  until?: number;
}

/** Pauses that double from the first to the longest, without an end. */
export function* doubling(firstMs: number, longestMs: number): Generator<number, never> {
  for (let pauseMs = firstMs; ; pauseMs = Math.min(pauseMs * 2, longestMs)) yield pauseMs;
}

export const pause = (ms: number, signal?: AbortSignal): Promise<void> =>
  delay(ms, undefined, signal ? { signal } : {}).catch(() => undefined);

/**
 * Makes attempts until one succeeds.
 * @throws the last attempt's error, or the signal's reason if it aborts a pause
 */
export const retry = async <T>(
  work: () => Promise<T>,
  { pausesMs, askedMs = () => undefined, shouldRetry = () => true, signal, until = Infinity }: RetryOptions,
): Promise<T> => {
  const pauses = pausesMs[Symbol.iterator]();
  for (;;) {
    try {
      return await work();
    } catch (error) {
      if (!shouldRetry(error)) throw error;
      const delayMs = askedMs(error);
      const { value: pauseMs, done } = delayMs === undefined ? pauses.next() : { value: delayMs, done: false };
      if (done || Date.now() + pauseMs > until) throw error;
      if (pauseMs > 0) await pause(pauseMs, signal);
      signal?.throwIfAborted();
    }
  }
};

class Conflict extends Error {}

/**
 * Makes conditional attempts until one succeeds.
 * @param attempt returns undefined on a conflict with another process; attempts count from 1
 * @param pauseMs pause after a conflict, in milliseconds
 * @returns undefined if every attempt conflicted
 */
export const retryOnConflict = <T>(
  attempts: number,
  attempt: (count: number) => Promise<T | undefined>,
  pauseMs: (count: number) => number = () => 0,
): Promise<T | undefined> => {
  let count = 0;
  function* pausesMs(): Generator<number> {
    while (count < attempts) yield pauseMs(count);
  }
  const once = async (): Promise<T> => {
    const result = await attempt((count += 1));
    if (result === undefined) throw new Conflict();
    return result;
  };
  const isConflict = (error: unknown): boolean => error instanceof Conflict;
  return retry<T | undefined>(once, { pausesMs: pausesMs(), shouldRetry: isConflict }).catch((error: unknown) => {
    if (isConflict(error)) return undefined;
    throw error;
  });
};
