import { readFile } from "node:fs/promises";
import { setTimeout as delay } from "node:timers/promises";
import type { LocalPlatform } from "../platform";
import type { Bench, Scenario } from "./scenario";

/** Servers that the platform uses, but that aren't part of it. */
const SERVERS = new Set(["mongodb", "redis", "temporal"]);
/** Longer than a process takes to become idle and release memory. */
const SETTLE_MS = 20_000;
const KB_PER_MB = 1_024;
const TARGET_MB = 600;

/** Resident memory in megabytes. */
const residentOf = async (pid: number): Promise<number> => {
  const status = await readFile(`/proc/${pid}/status`, "utf8");
  return Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1]) / KB_PER_MB;
};

/** The platform's processes, each once. */
const processesOf = ({ pids }: LocalPlatform): Map<number, string> => {
  const names = new Map<number, string>();
  for (const [name, pid] of Object.entries(pids)) {
    if (pid === undefined || SERVERS.has(name)) continue;
    names.set(pid, names.has(pid) ? "domain" : name);
  }
  return names;
};

/** Memory of the platform's processes without load. */
export const idleMemory: Scenario = {
  title: "memory while idle, without servers of others",
  measure: async ({ local, note }: Bench) => {
    await delay(SETTLE_MS);
    let ours = 0;
    for (const [pid, name] of processesOf(local)) {
      const resident = await residentOf(pid);
      note(`${name}: ${resident.toFixed(0)} MB`);
      ours += resident;
    }
    return [{ scenario: "i", name: "resident memory while idle", unit: "MB", ours, target: { kind: "below", value: TARGET_MB } }];
  },
};
