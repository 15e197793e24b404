/** work/: how work is repeated, gathered, swept up and stopped. */
import { setTimeout as delay } from "node:timers/promises";

export interface RetryOptions {
  /** Before each further attempt, in milliseconds. Where they end, the next failure is the last. */
  pausesMs: Iterable<number>;
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

/**
 * Makes attempts until one succeeds. Written out because the pauses of cockatiel's policy don't end with its signal.
 * @throws the last attempt's error, or the signal's reason when it aborts a pause
 */
export const retry = async <T>(
  work: () => Promise<T>,
  { pausesMs, shouldRetry = () => true, signal, until = Infinity }: RetryOptions,
): Promise<T> => {
  for (const pauseMs of pausesMs) {
    try {
      return await work();
    } catch (error) {
      if (!shouldRetry(error) || Date.now() + pauseMs > until) throw error;
      await delay(pauseMs, undefined, signal ? { signal } : {}).catch(() => undefined);
      signal?.throwIfAborted();
    }
  }
  return work();
};
