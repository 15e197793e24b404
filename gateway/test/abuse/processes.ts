import { readFileSync } from "node:fs";

/** Resource use of the platform's processes on Linux; undefined elsewhere, or if one has ended. */
export interface ResourceUse {
  cpuMs: number;
  residentBytes: number;
}

const MS_PER_TICK = 10;
const BYTES_PER_KIB = 1024;

const usedBy = (pid: number): ResourceUse => {
  // The process's name can contain spaces and brackets.
  const fields = readFileSync(`/proc/${pid}/stat`, "utf8")
    .replace(/^.*\) /, "")
    .split(" ");
  const [user, system] = [Number(fields[11]), Number(fields[12])];
  const resident = /^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1];
  return { cpuMs: (user + system) * MS_PER_TICK, residentBytes: Number(resident ?? 0) * BYTES_PER_KIB };
};

export const usedByAll = (pids: readonly number[]): ResourceUse | undefined => {
  try {
    return pids.map(usedBy).reduce((sum, one) => ({
      cpuMs: sum.cpuMs + one.cpuMs,
      residentBytes: sum.residentBytes + one.residentBytes,
    }));
  } catch {
    return undefined;
  }
};
