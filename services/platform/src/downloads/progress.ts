import { readFile, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { z } from "zod";

/** How far a fetch is: a file beside what it fetches, which whoever wants to know may read. */

const progressSchema = z.object({
  /** Of the fetching process; it has ended where there is none such. */
  pid: z.int(),
  state: z.enum(["fetching", "done", "failed"]),
  fetchedBytes: z.number(),
  totalBytes: z.number(),
  /** Milliseconds since 1970. */
  startedAt: z.number(),
  /** What it fetches, where that was noted. */
  assets: z.array(z.string()).optional(),
  /** Bytes to fetch until an asset is there, by the name of each that is missing. */
  left: z.record(z.string(), z.number()).optional(),
  /** By asset, why it could not be had. */
  failures: z.record(z.string(), z.string()),
});
export type Progress = z.infer<typeof progressSchema>;

const fileIn = (root: string): string => join(root, "progress.json");

export const writeProgress = async (root: string, progress: Progress): Promise<void> => {
  const draft = `${fileIn(root)}.${process.pid}`;
  await writeFile(draft, JSON.stringify(progress));
  await rename(draft, fileIn(root));
};

/** The progress that was written last; undefined where there is none. */
export const readProgress = async (root: string): Promise<Progress | undefined> => {
  try {
    return progressSchema.safeParse(JSON.parse(await readFile(fileIn(root), "utf8"))).data;
  } catch {
    return undefined;
  }
};

/** Whether a process of that id is there. */
export const isRunning = (pid: number): boolean => {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
};
