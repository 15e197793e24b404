import { performance } from "node:perf_hooks";
import { getHeapStatistics, setFlagsFromString } from "node:v8";

const LOOK_MS = 5_000;
/** The event loop of an idle process is busy for less than this share of the time. */
const IDLE_UTILIZATION = 0.02;
/** Number of idle checks before a collection, so that a process that works every few seconds doesn't wait for one. */
const IDLE_LOOKS = 2;
const WORTH_GROWTH = 0.25;

export interface HeapLook {
  utilization: number;
  totalBytes: number;
}

/** Decides at each check whether to collect. A collection is due once after a process has grown and become idle. */
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

const heapBytes = (): number => getHeapStatistics().total_heap_size;

/** Compacts the heap to free pages. It takes half a second per 100 MB, which is too long for a busy process. */
const collect = (gc: NodeJS.GCFunction): void => {
  setFlagsFromString("--compact-on-every-full-gc");
  try {
    gc();
  } finally {
    setFlagsFromString("--no-compact-on-every-full-gc");
  }
};

/**
 * Collects the heap of an idle process, which takes a tenth of a second. V8 collects only on allocation, so an idle process would keep the
 * garbage of its last work. Does nothing without `--expose-gc`.
 * @param lookMs interval between checks
 */
export const collectWhenIdle = (lookMs = LOOK_MS): void => {
  const { gc } = globalThis;
  if (!gc) return;
  const watch = createIdleWatch();
  let before = performance.eventLoopUtilization();
  setInterval(() => {
    const now = performance.eventLoopUtilization();
    const { utilization } = performance.eventLoopUtilization(now, before);
    before = now;
    if (!watch.isDue({ utilization, totalBytes: heapBytes() })) return;
    collect(gc);
    watch.collected(heapBytes());
  }, lookMs).unref();
};
