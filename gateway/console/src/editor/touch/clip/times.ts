import { clamped } from "../boxes";
import { numberAt, type Settings } from "../settings";

/** Times on a timeline, in seconds. */
export interface Range {
  start: number;
  end: number;
}
export type Edge = "start" | "end";
export type Hold = Edge | "move";

/** Shortest part that every operation accepts. */
export const LEAST_SECONDS = 0.04;
const STEPS = 100;

/** Rounded to hundredths. */
export const rounded = (seconds: number): number => Math.round(seconds * STEPS) / STEPS;

const ARROWS: Readonly<Record<string, number>> = { ArrowLeft: -1, ArrowDown: -1, ArrowRight: 1, ArrowUp: 1 };
const STEP = 0.1;
const LEAP = 1;

/** Movement by an arrow key: 0.1 seconds, with Shift 1 second. */
export const arrowSeconds = ({ key, shiftKey }: { key: string; shiftKey: boolean }): number | undefined => {
  const direction = ARROWS[key];
  return direction === undefined ? undefined : direction * (shiftKey ? LEAP : STEP);
};

/** A range after one of its edges, or all of it, was moved to a time. @param room limits that it stays inside of */
export const moved = (range: Range, hold: Hold, to: number, room: Range): Range => {
  if (hold === "start") return { ...range, start: clamped(rounded(to), room.start, Math.max(room.start, range.end - LEAST_SECONDS)) };
  if (hold === "end") {
    // The end of the file needs no rounding.
    const end = rounded(to) >= rounded(room.end) ? room.end : rounded(to);
    return { ...range, end: clamped(end, Math.min(room.end, range.start + LEAST_SECONDS), room.end) };
  }
  const length = range.end - range.start;
  const start = clamped(rounded(to), room.start, Math.max(room.start, room.end - length));
  return { start, end: Math.min(room.end, rounded(start + length)) };
};

export interface Trimming extends Range {
  /** Why the operation would reject the settings. */
  problem: "late" | "empty" | undefined;
}

/** The part that a trim keeps, by the rules of the operation: `seconds` counts before `end`. @param whole length of the file */
export const trimmingOf = (settings: Settings, whole: number): Trimming => {
  const start = numberAt(settings, "start") ?? 0;
  const seconds = numberAt(settings, "seconds");
  const end = seconds === undefined ? (numberAt(settings, "end") ?? whole) : start + seconds;
  if (start >= whole) return { start: 0, end: whole, problem: "late" };
  if (end <= start) return { start, end: whole, problem: "empty" };
  return { start, end: Math.min(whole, end), problem: undefined };
};

/** Settings for a range. The end of the file isn't stored, so that the trim also suits longer files. */
export const trimChanges = ({ start, end }: Range, settings: Settings, whole: number): Settings => {
  if (numberAt(settings, "seconds") !== undefined) return { start, end: undefined, seconds: rounded(end - start) };
  return { start, end: end >= whole ? undefined : end };
};
