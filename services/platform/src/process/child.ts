import type { ChildProcess } from "node:child_process";
import { writeFile } from "node:fs/promises";
import { setPriority } from "node:os";
import { memoryOf } from "./memory";

/** What services do with processes that they start for work which may crash, hang or take too much memory. */

/** Of the scheduler: what else runs on the machine goes first. */
const NICENESS = 5;
/** For Linux: of all processes, these are ended first where memory runs out. */
const FIRST_TO_GO = "1000";
const TAIL_CHARACTERS = 2_000;

/** Lets a process come after all others: for the CPU, and for memory that runs out. */
export const yieldToOthers = ({ pid }: ChildProcess): void => {
  if (pid === undefined) return;
  try {
    setPriority(pid, NICENESS);
  } catch {
    // It has ended already, or the system does not let us.
  }
  void writeFile(`/proc/${pid}/oom_score_adj`, FIRST_TO_GO).catch(() => undefined);
};

export type StopWatching = () => void;

/**
 * Looks at a process's memory until that is stopped.
 * @param onMore hears that it takes more bytes than it may
 */
export const watchMemory = (
  { pid }: ChildProcess,
  { mostBytes, everyMs, onMore }: { mostBytes: number; everyMs: number; onMore: () => void },
): StopWatching => {
  const watch = setInterval(() => {
    void memoryOf(pid ?? 0).then((bytes = 0) => bytes > mostBytes && onMore());
  }, everyMs);
  return () => clearInterval(watch);
};

/** Reads what a process prints on stderr. @returns its last line so far; empty while there is none */
export const lastPrinted = ({ stderr }: ChildProcess): (() => string) => {
  let printed = "";
  stderr?.on("data", (piece: Buffer) => (printed = (printed + piece.toString()).slice(-TAIL_CHARACTERS)));
  return () => printed.trim().split("\n").at(-1) ?? "";
};
