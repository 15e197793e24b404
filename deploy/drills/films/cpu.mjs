import { readdirSync, readFileSync } from "node:fs";
import { readLocal } from "../support/platform.mjs";

/** Kernel ticks per second. */
const TICKS = 100;
/** Fields of /proc/<pid>/stat after the name: the parent, and the times of the process and its ended children. */
const [PARENT, FIRST_TIME, TIMES] = [1, 11, 4];

/** @returns {{ parent: number, ticks: number } | undefined} undefined for a process that has ended */
const statOf = (/** @type {string} */ pid) => {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, "utf8");
    const fields = text.slice(text.lastIndexOf(")") + 2).split(" ");
    const times = fields.slice(FIRST_TIME, FIRST_TIME + TIMES).map(Number);
    return { parent: Number(fields[PARENT]), ticks: times.reduce((sum, time) => sum + time, 0) };
  } catch {
    return undefined;
  }
};

/** CPU seconds of the platform's processes and their descendants. Linux only. */
export const cpuSeconds = () => {
  const all = new Map(readdirSync("/proc").flatMap((name) => (/^\d+$/.test(name) ? [[Number(name), statOf(name)]] : [])));
  const roots = new Set(Object.values(readLocal().pids));
  const isOurs = (/** @type {number} */ pid) => {
    for (let at = pid; at > 1; at = all.get(at)?.parent ?? 0) if (roots.has(at)) return true;
    return false;
  };
  let ticks = 0;
  for (const [pid, stat] of all) if (stat && isOurs(pid)) ticks += stat.ticks;
  return ticks / TICKS;
};
