import { readFile } from "node:fs/promises";

export const isAlive = (pid: number): boolean => {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
};

/** Waits until a file contains a process id. */
export const pidFrom = async (path: string): Promise<number> => {
  for (;;) {
    const pid = Number(await readFile(path, "utf8").catch(() => ""));
    if (pid > 0) return pid;
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
};
