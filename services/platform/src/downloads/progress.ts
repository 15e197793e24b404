import { readFile, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { z } from "zod";

/** Progress of a download, stored in a file next to the assets so that every process can read it. */

const progressSchema = z.object({
  /** Process id of the download. If the process isn't running, the download has ended. */
  pid: z.int(),
  state: z.enum(["fetching", "done", "failed"]),
  fetchedBytes: z.number(),
  totalBytes: z.number(),
  startedAt: z.number(),
  /** Names of the assets that the process downloads, if recorded. */
  assets: z.array(z.string()).optional(),
  /** Remaining bytes by asset. */
  left: z.record(z.string(), z.number()).optional(),
  /** Error messages of failed downloads, by asset. */
  failures: z.record(z.string(), z.string()),
});
export type Progress = z.infer<typeof progressSchema>;

const fileIn = (root: string): string => join(root, "progress.json");

export const writeProgress = async (root: string, progress: Progress): Promise<void> => {
  const draft = `${fileIn(root)}.${process.pid}`;
  await writeFile(draft, JSON.stringify(progress));
  await rename(draft, fileIn(root));
};

/** The latest recorded progress; undefined if there is no file. */
export const readProgress = async (root: string): Promise<Progress | undefined> => {
  try {
    return progressSchema.safeParse(JSON.parse(await readFile(fileIn(root), "utf8"))).data;
  } catch {
    return undefined;
  }
};

export const isRunning = (pid: number): boolean => {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
};
