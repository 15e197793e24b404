import { sleep } from "./sleep";

const MS = 1_000;
/** Below this number of remaining requests, the client waits for the next window. */
const LOW = 5;
/** Longest wait for a window; windows last a minute. */
const MAX_WAIT_MS = 61_000;
const MAX_BUCKETS = 10_000;

export interface Pacing {
  /** Waits while a bucket is nearly empty. */
  ready(bucket: string, signal?: AbortSignal): Promise<void>;
  /** Reads a bucket's state from a response. */
  learn(bucket: string, headers: Headers): void;
}

const numberIn = (headers: Headers, name: string): number | undefined => {
  const text = headers.get(name);
  const value = text === null ? Number.NaN : Number(text);
  return Number.isFinite(value) ? value : undefined;
};

/** End of a window by the local clock, independent of the service's clock. */
const endsAt = (headers: Headers, resetSeconds: number): number => {
  const serverNow = Date.parse(headers.get("date") ?? "");
  const leftMs = resetSeconds * MS - (Number.isNaN(serverNow) ? Date.now() : serverNow);
  return Date.now() + Math.min(Math.max(leftMs, 0), MAX_WAIT_MS);
};

/**
 * Keeps requests within the limits in responses.
 * @param maxPauseMs if the wait is longer, the request is sent at once, and the service's error has the wait
 */
export const createPacing = (maxPauseMs: number = MAX_WAIT_MS): Pacing => {
  /** Nearly empty buckets and their end. */
  const low = new Map<string, number>();
  return {
    ready: async (bucket, signal) => {
      const until = low.get(bucket);
      if (until === undefined) return;
      low.delete(bucket);
      const pause = until - Date.now();
      if (pause <= 0 || pause > maxPauseMs) return;
      // Later requests wait for the same window.
      low.set(bucket, until);
      await sleep(pause, signal);
    },
    learn: (bucket, headers) => {
      const remaining = numberIn(headers, "x-ratelimit-remaining");
      const reset = numberIn(headers, "x-ratelimit-reset");
      if (remaining === undefined || reset === undefined) return;
      low.delete(bucket);
      if (remaining >= LOW) return;
      if (low.size >= MAX_BUCKETS) low.delete(low.keys().next().value!);
      low.set(bucket, endsAt(headers, reset));
    },
  };
};
