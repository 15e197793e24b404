import { LIMITS } from "@nodeloom/kernel";

/** Ids of one millisecond. */
const PER_MS = 1_000;
/** Where a process begins within a millisecond: another that begins rows at the same time rarely takes the same id, and then asks for the next. */
const STARTS = 800;

/** Rows are begun this much before their runs at most, by clocks that differ… */
const MARGIN_MS = 86_400_000;
/** …and as long after them as a run may take and wait. */
const LONGEST_RUN_MS = LIMITS.waitingHours * 3_600_000 + MARGIN_MS;

/** Between which ids the rows are of runs that began from one time to another. */
export const idsBetween = (from: Date, to: Date): [number, number] => [
  (from.getTime() - MARGIN_MS) * PER_MS,
  (to.getTime() + LONGEST_RUN_MS + MARGIN_MS) * PER_MS,
];

/**
 * Ids of rows without a shared counter: they increase with the time at which a row is begun, here always, and among processes as
 * far as their clocks agree.
 * @param latest an id above which all of them are: the highest that was given before, whatever the clock says
 * @returns the next id; one that isn't used leaves a gap
 */
export const createIds = (latest: number, now: () => number = Date.now): (() => number) => {
  let last = latest;
  return () => {
    const offset = Math.floor(Math.random() * STARTS);
    const time = now() * PER_MS + offset;
    // Behind an id of a clock that was ahead others may be, too: one after the other, all of them would take the same.
    const step = last - time > PER_MS ? 1 + offset : 1;
    last = Math.max(last + step, time);
    return last;
  };
};
