import { getHeapStatistics, setFlagsFromString } from "node:v8";

/** A heap below this size isn't worth marking. */
const SMALL_HEAP_BYTES = 128 * 1024 * 1024;
/** How far a larger heap may grow, in percent of what lives: with thousands of runs in flight the engine's own multiple is hundreds of megabytes. */
const LEAST_GROWTH_PERCENT = 40;
const LOOK_MS = 5_000;

/** How far a heap may grow until all of it is marked again, in percent of what is used. */
export const heapGrowthPercent = (usedBytes: number): number =>
  Math.max(LEAST_GROWTH_PERCENT, Math.floor((SMALL_HEAP_BYTES / Math.max(1, usedBytes) - 1) * 100));

/**
 * Lets a small heap grow to a size that is worth marking, and a large one by a part of itself. By itself V8 allows a process
 * that was idle a tenth, so that each body of some megabytes has the whole heap marked several times.
 */
export const keepHeapGrowth = (): void => {
  let set = 0;
  const look = (): void => {
    const percent = heapGrowthPercent(getHeapStatistics().used_heap_size);
    if (percent === set) return;
    set = percent;
    setFlagsFromString(`--heap-growing-percent=${percent}`);
  };
  look();
  setInterval(look, LOOK_MS).unref();
};
