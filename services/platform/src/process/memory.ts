import { readFile } from "node:fs/promises";

const KB = 1_024;

/** The memory of a process that is not shared with files, in bytes; undefined where the system does not tell. */
export const memoryOf = async (pid: number): Promise<number | undefined> => {
  const status = await readFile(`/proc/${pid}/status`, "utf8").catch(() => "");
  const kilobytes = /^RssAnon:\s+(\d+) kB$/m.exec(status)?.[1];
  return kilobytes === undefined ? undefined : Number(kilobytes) * KB;
};
