import { readdirSync, readFileSync } from "node:fs";
import { SERVICES } from "../../../services.cjs";
import type { LocalPlatform } from "../platform";

/** Processes by group. The sandbox replaces the providers and isn't counted. */
export const CPU_GROUPS = {
  Temporal: ["temporal"],
  database: ["mongodb"],
  executions: ["executions"],
  domain: SERVICES.filter(({ host }) => host === "domain").map(({ name }) => name),
  gateway: ["gateway"],
  Redis: ["redis"],
} satisfies Record<string, readonly string[]>;

export type CpuGroup = keyof typeof CPU_GROUPS;
export type CpuTimes = Record<CpuGroup, number>;

/** Linux counts in hundredths of a second, whatever the kernel's own clock (man 5 proc_pid_stat, sysconf _SC_CLK_TCK). */
const MS_PER_TICK = 10;
/** Fields of /proc/<pid>/stat after the command's name, which can contain any character: ppid, utime and stime. */
const FIELDS = { parent: 1, user: 11, system: 12 } as const;

interface ProcessTimes {
  parent: number;
  cpuMs: number;
}

export const readStat = (stat: string): ProcessTimes => {
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return { parent: Number(fields[FIELDS.parent]), cpuMs: (Number(fields[FIELDS.user]) + Number(fields[FIELDS.system])) * MS_PER_TICK };
};

const allProcesses = (): Map<number, ProcessTimes> => {
  const processes = new Map<number, ProcessTimes>();
  for (const name of readdirSync("/proc")) {
    if (!/^\d+$/.test(name)) continue;
    try {
      processes.set(Number(name), readStat(readFileSync(`/proc/${name}/stat`, "utf8")));
    } catch {
      // The process has ended.
    }
  }
  return processes;
};

/** CPU of processes and all their descendants, each counted once. */
export const timeOf = (roots: ReadonlySet<number>, processes: ReadonlyMap<number, ProcessTimes>): number => {
  const belongs = (pid: number): boolean => {
    for (let at = pid; at > 1; at = processes.get(at)?.parent ?? 0) if (roots.has(at)) return true;
    return false;
  };
  let total = 0;
  for (const [pid, { cpuMs }] of processes) if (belongs(pid)) total += cpuMs;
  return total;
};

/** CPU that a platform's processes have used since their start. Linux only. */
export const cpuTimes = ({ pids }: Pick<LocalPlatform, "pids">): CpuTimes => {
  const processes = allProcesses();
  const of = (services: readonly string[]): number => timeOf(new Set(services.flatMap((service) => pids[service] ?? [])), processes);
  return Object.fromEntries(Object.entries(CPU_GROUPS).map(([group, services]) => [group, of(services)])) as CpuTimes;
};

export const cpuPerRun = (before: CpuTimes, after: CpuTimes, runs: number): CpuTimes =>
  Object.fromEntries(Object.entries(after).map(([group, ms]) => [group, (ms - before[group as CpuGroup]) / runs])) as CpuTimes;

export const totalOf = (times: CpuTimes): number => Object.values(times).reduce((sum, ms) => sum + ms, 0);
