import { readdirSync, readFileSync } from "node:fs";

/** Milliseconds of a clock tick in `/proc`. */
const TICK_MS = 10;
/** Positions in `/proc/<pid>/stat` after the program's name: the parent, and the ticks of the process and its ended children. */
const PARENT = 1;
const TICKS = [11, 12, 13, 14];

/** @param {string} pid @returns {string[]} empty if the process has ended */
const fieldsOf = (pid) => {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, "utf8");
    return text.slice(text.lastIndexOf(")") + 2).split(" ");
  } catch {
    return [];
  }
};

/** Processor time of processes and all their descendants. @param {number[]} pids */
export const processorMs = (pids) => {
  const names = readdirSync("/proc").filter((name) => /^\d+$/.test(name));
  const stats = new Map(names.map((pid) => [pid, fieldsOf(pid)]));
  const roots = new Set(pids.map(String));
  /** @param {string | undefined} pid @returns {boolean} */
  const isInside = (pid) => pid !== undefined && (roots.has(pid) || isInside(stats.get(pid)?.[PARENT]));
  const ticks = [...stats].flatMap(([pid, fields]) => (isInside(pid) ? TICKS.map((at) => Number(fields[at] ?? 0)) : []));
  return ticks.reduce((sum, one) => sum + one, 0) * TICK_MS;
};
