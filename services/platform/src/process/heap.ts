import { performance } from "node:perf_hooks";
import { getHeapStatistics, setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

/** A heap below this size isn't worth marking while there is work. */
const SMALL_HEAP_BYTES = 128 * 1024 * 1024;
/** How far a larger heap may grow, in percent of what lives: with thousands of runs in flight the engine's own multiple is hundreds of megabytes. */
const LEAST_GROWTH_PERCENT = 40;
const LOOK_MS = 5_000;
/** The part of a look's time in which an idle process does something. */
const IDLE_UTILIZATION = 0.02;
/** For so many looks a process has to be idle: what comes every few seconds must not wait for a collection. */
const IDLE_LOOKS = 2;
/** How far it must have grown since the last collection, as a part of what that left, to be worth another. */
const WORTH_GROWTH = 0.25;

/** How far a heap may grow until all of it is marked again, in percent of what is used. */
export const heapGrowthPercent = (usedBytes: number): number =>
  Math.max(LEAST_GROWTH_PERCENT, Math.floor((SMALL_HEAP_BYTES / Math.max(1, usedBytes) - 1) * 100));

/** What is known of a heap at one look. */
export interface HeapLook {
  /** The part of the time since the last look in which the event loop was busy, 0 to 1. */
  utilization: number;
  /** What the heap takes of the machine. */
  totalBytes: number;
}

/**
 * Says at each look whether the heap should be collected: once, when a process that grew has become idle. By itself the
 * engine collects when something is allocated, and an idle process would keep what its last work left.
 */
export const createIdleWatch = (): { isDue: (look: HeapLook) => boolean; collected: (totalBytes: number) => void } => {
  let idleLooks = 0;
  let leftBytes = 0;
  return {
    isDue: ({ utilization, totalBytes }) => {
      idleLooks = utilization < IDLE_UTILIZATION ? idleLooks + 1 : 0;
      return idleLooks >= IDLE_LOOKS && totalBytes > leftBytes * (1 + WORTH_GROWTH);
    },
    collected: (totalBytes) => {
      leftBytes = totalBytes;
    },
  };
};

/** Collects the whole heap and moves what lives together, so that pages become free. Takes a tenth of a second. */
const collect = (): void => {
  setFlagsFromString("--expose-gc");
  const gc = runInNewContext("gc") as () => void;
  setFlagsFromString("--compact-on-every-full-gc");
  gc();
  setFlagsFromString("--no-compact-on-every-full-gc");
};

/**
 * Lets a small heap grow to a size that is worth marking, and a large one by a part of itself. By itself V8 allows a process
 * that was idle a tenth, so that each body of some megabytes has the whole heap marked several times. What it grew by is
 * given back when the process is idle.
 * @param lookMs how often the heap is looked at
 */
export const keepHeapGrowth = (lookMs = LOOK_MS): void => {
  const watch = createIdleWatch();
  let set = 0;
  let busy = performance.eventLoopUtilization();
  const allow = (): void => {
    const percent = heapGrowthPercent(getHeapStatistics().used_heap_size);
    if (percent === set) return;
    set = percent;
    setFlagsFromString(`--heap-growing-percent=${percent}`);
  };
  const look = (): void => {
    const now = performance.eventLoopUtilization();
    const { utilization } = performance.eventLoopUtilization(now, busy);
    busy = now;
    if (watch.isDue({ utilization, totalBytes: getHeapStatistics().total_heap_size })) {
      collect();
      watch.collected(getHeapStatistics().total_heap_size);
    }
    allow();
  };
  allow();
  setInterval(look, lookMs).unref();
};
