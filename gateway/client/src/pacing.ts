import { sleep } from "./sleep";

const MS = 1_000;
/** With fewer requests left than this, the window's end is waited for. */
const LOW = 5;
/** Longest wait for a window; windows take a minute. */
const MAX_WAIT_MS = 61_000;
const MAX_BUCKETS = 10_000;

export interface Pacing {
  /** Waits while a bucket is nearly empty. */
  ready(bucket: string, signal?: AbortSignal): Promise<void>;
  /** Learns from an answer how full its bucket is. */
  learn(bucket: string, headers: Headers): void;
}

const numberIn = (headers: Headers, name: string): number | undefined => {
  const text = headers.get(name);
  const value = text === null ? Number.NaN : Number(text);
  return Number.isFinite(value) ? value : undefined;
};

/** When a window ends by this machine's clock, whatever the service's clock says. */
const endsAt = (headers: Headers, resetSeconds: number): number => {
  const serverNow = Date.parse(headers.get("date") ?? "");
  const leftMs = resetSeconds * MS - (Number.isNaN(serverNow) ? Date.now() : serverNow);
  return Date.now() + Math.min(Math.max(leftMs, 0), MAX_WAIT_MS);
};

/**
 * Keeps requests within the limits that answers tell of.
 * @param maxPauseMs of a longer wait the service is asked instead: its refusal says how long
 */
export const createPacing = (maxPauseMs: number = MAX_WAIT_MS): Pacing => {
  /** Buckets that are nearly empty, and until when. */
  const low = new Map<string, number>();
  return {
    ready: async (bucket, signal) => {
      const until = low.get(bucket);
      if (until === undefined) return;
      low.delete(bucket);
      const pause = until - Date.now();
      if (pause <= 0 || pause > maxPauseMs) return;
      // Whoever comes meanwhile waits, too.
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
