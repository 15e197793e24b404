import { LIMITS } from "@nodeloom/kernel";

/** Number of ids per millisecond. */
const PER_MS = 1_000;
/**
 * Range of random start offsets within a millisecond, so that an owner's rows from concurrent processes rarely collide. After a collision the
 * next id is tried.
 */
const STARTS = 800;

/** Maximum difference between clocks. */
const MARGIN_MS = 86_400_000;
/** Maximum time between the creation of a run and its row: the longest run, plus the clock margin. */
const LONGEST_RUN_MS = LIMITS.waitingHours * 3_600_000 + MARGIN_MS;

/** Returns the id range of rows whose runs began within a time range. */
export const idsBetween = (from: Date, to: Date): [number, number] => [
  (from.getTime() - MARGIN_MS) * PER_MS,
  (to.getTime() + LONGEST_RUN_MS + MARGIN_MS) * PER_MS,
];

/**
 * Creates row ids without a shared counter. Ids increase with time: strictly within a process, and across processes as far as their clocks
 * agree.
 * @param latest lower bound: the highest existing id, independent of the clock
 * @returns a function that returns the next id. An unused id leaves a gap
 */
export const createIds = (latest: number, now: () => number = Date.now): (() => number) => {
  let last = latest;
  return () => {
    const offset = Math.floor(Math.random() * STARTS);
    const time = now() * PER_MS + offset;
    // If an id came from a clock that is ahead, other processes also continue from it. Different steps prevent repeated collisions.
    const step = last - time > PER_MS ? 1 + offset : 1;
    last = Math.max(last + step, time);
    return last;
  };
};
