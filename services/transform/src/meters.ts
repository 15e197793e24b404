import { durationHistogram, observedGauge, type Stop } from "@nodeloom/platform";
import type { Pool } from "./children/pool";

/** Metrics. Attributes have few distinct values: operations and outcomes. */

const took = durationHistogram("nodeloom.transform.duration", "operations on files, by operation and outcome");

/** Measures an operation, including its wait in the queue. */
export const measured = async <T>(operation: string, work: () => Promise<T>): Promise<T> => {
  const startedAt = performance.now();
  const note = (outcome: string): void => took(performance.now() - startedAt, { operation, outcome });
  try {
    const result = await work();
    note("ok");
    return result;
  } catch (error) {
    note("failed");
    throw error;
  }
};

/** Measures active and waiting operations. @returns a function that stops it */
export const watchPool = (pool: Pick<Pool, "load">): Stop => {
  const attributes = { pool: "operations" };
  const ends = [
    observedGauge("nodeloom.slots.in_use", "places that are taken, by pool", () => [{ value: pool.load().inUse, attributes }]),
    observedGauge("nodeloom.slots.waiting", "work that waits for a place, by pool", () => [{ value: pool.load().waiting, attributes }]),
  ];
  return () => {
    for (const end of ends) end();
  };
};
