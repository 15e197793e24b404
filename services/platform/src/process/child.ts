import type { ChildProcess } from "node:child_process";
import { writeFile } from "node:fs/promises";
import { setPriority } from "node:os";
import { memoryOf } from "./memory";

/** Helpers for child processes that can crash, hang or use too much memory. */

/** Scheduling priority below that of other processes on the machine. */
const NICENESS = 5;
/** If memory runs out, Linux ends these processes first. */
const FIRST_TO_GO = "1000";
const TAIL_CHARACTERS = 2_000;

/** Gives a process the lowest priority for CPU and memory. */
export const yieldToOthers = ({ pid }: ChildProcess): void => {
  if (pid === undefined) return;
  try {
    setPriority(pid, NICENESS);
  } catch {
    // The process has already ended, or the system doesn't allow it.
  }
  void writeFile(`/proc/${pid}/oom_score_adj`, FIRST_TO_GO).catch(() => undefined);
};

export type StopWatching = () => void;

/**
 * Watches the memory of a process until stopped.
 * @param onMore called when the process exceeds its limit
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

/**
 * Reads the stderr of a process.
 * @returns a function that returns the last line so far; empty if nothing was printed
 */
export const lastPrinted = ({ stderr }: ChildProcess): (() => string) => {
  let printed = "";
  stderr?.on("data", (piece: Buffer) => (printed = (printed + piece.toString()).slice(-TAIL_CHARACTERS)));
  return () => printed.trim().split("\n").at(-1) ?? "";
};
