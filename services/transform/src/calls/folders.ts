import { randomBytes } from "node:crypto";
import { mkdir, readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { isRunning } from "@nodeloom/platform";

/** Private folders of operations. Each is removed after its operation. Folders of killed processes are removed at the next start. */

export interface Folders {
  within<T>(work: (folder: string) => Promise<T>): Promise<T>;
  stop(): Promise<void>;
}

const NAME = /^process-(\d+)-/;

/** In a container, an earlier process can have had the pid of this one. */
const isAnother = (pid: number): boolean => pid !== process.pid && isRunning(pid);

export const openFolders = async (root: string): Promise<Folders> => {
  await mkdir(root, { recursive: true, mode: 0o700 });
  for (const name of await readdir(root)) {
    const pid = NAME.exec(name)?.[1];
    if (pid !== undefined && !isAnother(Number(pid))) await rm(join(root, name), { recursive: true, force: true });
  }
  const own = join(root, `process-${process.pid}-${randomBytes(6).toString("hex")}`);
  await mkdir(own, { mode: 0o700 });
  let count = 0;
  return {
    within: async (work) => {
      const folder = join(own, String((count += 1)));
      await mkdir(folder, { mode: 0o700 });
      try {
        return await work(folder);
      } finally {
        await rm(folder, { recursive: true, force: true });
      }
    },
    stop: () => rm(own, { recursive: true, force: true }),
  };
};
