import type { ChildProcess } from "node:child_process";
import { writeFile } from "node:fs/promises";
import { setPriority } from "node:os";
import { memoryOf } from "./memory";

/** Helpers for child processes whose work can crash, hang or use too much memory. */

/** Scheduler priority: other processes of the machine go first. */
const NICENESS = 5;
/** Linux ends these processes first if memory runs out. */
const FIRST_TO_GO = "1000";
const TAIL_CHARACTERS = 2_000;

/** Gives a process the lowest claim on CPU and memory. */
export const yieldToOthers = ({ pid }: ChildProcess): void => {
  if (pid === undefined) return;
  try {
    setPriority(pid, NICENESS);
  } catch {
    // It has ended already, or the system doesn't allow it.
  }
  void writeFile(`/proc/${pid}/oom_score_adj`, FIRST_TO_GO).catch(() => undefined);
};

export type StopWatching = () => void;

/**
 * Watches a process's memory until stopped.
 * @param onMore called when it exceeds its limit
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
 * Reads a process's stderr.
 * @returns its last line so far; empty if it printed nothing
 */
export const lastPrinted = ({ stderr }: ChildProcess): (() => string) => {
  let printed = "";
  stderr?.on("data", (piece: Buffer) => (printed = (printed + piece.toString()).slice(-TAIL_CHARACTERS)));
  return () => printed.trim().split("\n").at(-1) ?? "";
};
