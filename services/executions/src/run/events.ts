import type { ExecutionEvent } from "./record";

/** An entry of a run's log. @param key names the occurrence: it is recorded once */
export const event = (key: string, type: string, data: Record<string, unknown> = {}): ExecutionEvent => ({
  key,
  type,
  at: new Date(),
  data,
});

/** What happens to a run once: its kind names it. */
export const runEvent = (type: string, data?: Record<string, unknown>): ExecutionEvent => event(type, type, data);

/** Clocks of two processes may differ. */
export const elapsed = (sinceMs: number, untilMs = Date.now()): number => Math.max(0, untilMs - sinceMs);
