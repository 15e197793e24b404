import { performance } from "node:perf_hooks";
import { getHeapStatistics } from "node:v8";

const LOOK_MS = 5_000;
/** The part of a look's time in which an idle process does something. */
const IDLE_UTILIZATION = 0.02;
/** For so many looks a process has to be idle: what comes every few seconds must not wait for a collection. */
const IDLE_LOOKS = 2;
/** How far the heap must have grown since the last collection, as a part of what that left, to be worth another. */
const WORTH_GROWTH = 0.25;

/** What is known of a heap at one look. */
export interface HeapLook {
  /** The part of the time since the last look in which the event loop was busy, 0 to 1. */
  utilization: number;
  /** What the heap takes of the machine. */
  totalBytes: number;
}

/** Says at each look whether the heap should be collected: once, when a process that grew has become idle. */
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

/**
 * Collects the heap of a process that has become idle, which takes a tenth of a second. V8 collects when something is allocated:
 * by itself an idle process keeps what its last work left, a quarter more. Needs `--expose-gc`, and does nothing without it.
 * @param lookMs how often the process is looked at
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
    gc();
    watch.collected(heapBytes());
  }, lookMs).unref();
};
