import { LIMITS } from "@nodeloom/kernel";

/** Ids per millisecond. */
const PER_MS = 1_000;
/** Range of random start offsets within a millisecond, so that concurrent processes rarely collide. On a collision the next id is tried. */
const STARTS = 800;

/** Clocks differ by at most this much. */
const MARGIN_MS = 86_400_000;
/** A row starts at most this long after its run was created: the longest run, plus the clock margin. */
const LONGEST_RUN_MS = LIMITS.waitingHours * 3_600_000 + MARGIN_MS;

/** The id range of rows whose runs began within a time range. */
export const idsBetween = (from: Date, to: Date): [number, number] => [
  (from.getTime() - MARGIN_MS) * PER_MS,
  (to.getTime() + LONGEST_RUN_MS + MARGIN_MS) * PER_MS,
];

/**
 * Row ids without a shared counter. They increase with time: strictly within a process, and across processes as far as their clocks agree.
 * @param latest lower bound: the highest id so far, whatever the clock says
 * @returns the next id. An unused id leaves a gap
 */
export const createIds = (latest: number, now: () => number = Date.now): (() => number) => {
  let last = latest;
  return () => {
    const offset = Math.floor(Math.random() * STARTS);
    const time = now() * PER_MS + offset;
    // After an id from a clock that is ahead, other processes start from it too. Different steps keep them from colliding again and again.
    const step = last - time > PER_MS ? 1 + offset : 1;
    last = Math.max(last + step, time);
    return last;
  };
};
