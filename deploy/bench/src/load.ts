import { performance } from "node:perf_hooks";
import { setTimeout as delay } from "node:timers/promises";
import type { Sample } from "./rounds";

export type Task = () => Promise<unknown>;

/** Runs `parallel` tasks at once until the time is over. */
export const loadFor = async (durationMs: number, parallel: number, task: Task): Promise<Sample> => {
  const latenciesMs: number[] = [];
  const startedAt = performance.now();
  const slot = async (): Promise<void> => {
    for (let at = performance.now(); at - startedAt < durationMs; at = performance.now()) {
      await task();
      latenciesMs.push(performance.now() - at);
    }
  };
  await Promise.all(Array.from({ length: parallel }, slot));
  return { latenciesMs, seconds: (performance.now() - startedAt) / 1_000 };
};

/** Runs a task once per item, `parallel` at a time. Returns results and durations in order. */
export const loadEach = async <T, R>(
  items: readonly T[],
  parallel: number,
  task: (item: T) => Promise<R>,
): Promise<{ sample: Sample; results: R[] }> => {
  const latenciesMs: number[] = [];
  const results: R[] = [];
  const startedAt = performance.now();
  const waiting = items.entries();
  const slot = async (): Promise<void> => {
    for (const [index, item] of waiting) {
      const at = performance.now();
      results[index] = await task(item);
      latenciesMs.push(performance.now() - at);
    }
  };
  await Promise.all(Array.from({ length: parallel }, slot));
  return { sample: { latenciesMs, seconds: (performance.now() - startedAt) / 1_000 }, results };
};

/** Runs one task per item and starts them at a fixed rate. */
export const loadPaced = async <T, R>(
  items: readonly T[],
  perSecond: number,
  task: (item: T) => Promise<R>,
): Promise<{ sample: Sample; results: R[] }> => {
  const latenciesMs: number[] = [];
  const startedAt = performance.now();
  const timed = async (item: T, index: number): Promise<R> => {
    await delay(Math.max(0, startedAt + (index * 1_000) / perSecond - performance.now()));
    const at = performance.now();
    const result = await task(item);
    latenciesMs.push(performance.now() - at);
    return result;
  };
  const results = await Promise.all(items.map(timed));
  return { sample: { latenciesMs, seconds: (performance.now() - startedAt) / 1_000 }, results };
};

/** Starts tasks at a fixed rate. The returned function stops and waits for running ones. */
export const steadyLoad = (perSecond: number, task: Task): (() => Promise<void>) => {
  const running = new Set<Promise<unknown>>();
  let failure: { error: unknown } | undefined;
  const timer = setInterval(() => {
    const one: Promise<unknown> = task()
      .catch((error: unknown) => (failure ??= { error }))
      .finally(() => running.delete(one));
    running.add(one);
  }, 1_000 / perSecond);
  return async () => {
    clearInterval(timer);
    await Promise.all(running);
    if (failure) throw failure.error;
  };
};
