import { readFile } from "node:fs/promises";

const KB = 1_024;

/** Private memory of a process in bytes; undefined if the system doesn't report it. */
export const memoryOf = async (pid: number): Promise<number | undefined> => {
  const status = await readFile(`/proc/${pid}/status`, "utf8").catch(() => "");
  const kilobytes = /^RssAnon:\s+(\d+) kB$/m.exec(status)?.[1];
  return kilobytes === undefined ? undefined : Number(kilobytes) * KB;
};
