/** work/: how work is repeated, gathered, swept up and stopped. */
import { setTimeout as delay } from "node:timers/promises";

export interface RetryOptions {
  /** Before each further attempt, in milliseconds. Where they end, the next failure is the last. */
  pausesMs: Iterable<number>;
  /** How long a failure itself asks to be waited for, in place of the next pause. */
  askedMs?: (error: unknown) => number | undefined;
  /** Whether another attempt may go better. Default: always. */
  shouldRetry?: (error: unknown) => boolean;
  /** Ends a pause. */
  signal?: AbortSignal | undefined;
  /** No pause is begun that would not end before, in milliseconds since the epoch. */
  until?: number;
}

/** Pauses that double from the first to the longest, without end. */
export function* doubling(firstMs: number, longestMs: number): Generator<number, never> {
  for (let pauseMs = firstMs; ; pauseMs = Math.min(pauseMs * 2, longestMs)) yield pauseMs;
}

/** Resolves after a pause, or at once when the signal aborts. */
export const pause = (ms: number, signal?: AbortSignal): Promise<void> =>
  delay(ms, undefined, signal ? { signal } : {}).catch(() => undefined);

/**
 * Makes attempts until one succeeds.
 * @throws the last attempt's error, or the signal's reason when it aborts a pause
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
      const asked = askedMs(error);
      const { value: pauseMs, done } = asked === undefined ? pauses.next() : { value: asked, done: false };
      if (done || Date.now() + pauseMs > until) throw error;
      if (pauseMs > 0) await pause(pauseMs, signal);
      signal?.throwIfAborted();
    }
  }
};

class Conflict extends Error {}

/**
 * Makes conditional attempts until one succeeds: each looks afresh at what it changes.
 * @param attempts how many are made at most
 * @param attempt answers undefined where somebody else was faster, and it must be made again; the first has number 1
 * @param pauseMs how long is waited after an attempt that met a conflict, in milliseconds
 * @returns undefined where all of them did
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
