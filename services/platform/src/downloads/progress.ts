import { readFile, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { z } from "zod";

/** Progress of a download: a file beside the assets that any process can read. */

const progressSchema = z.object({
  /** Process ID of the download. If no such process runs, the download has ended. */
  pid: z.int(),
  state: z.enum(["fetching", "done", "failed"]),
  fetchedBytes: z.number(),
  totalBytes: z.number(),
  startedAt: z.number(),
  /** Assets that this process downloads, if recorded. */
  assets: z.array(z.string()).optional(),
  /** Bytes left for each missing asset, by its name. */
  left: z.record(z.string(), z.number()).optional(),
  /** Error message per asset that couldn't be downloaded. */
  failures: z.record(z.string(), z.string()),
});
export type Progress = z.infer<typeof progressSchema>;

const fileIn = (root: string): string => join(root, "progress.json");

export const writeProgress = async (root: string, progress: Progress): Promise<void> => {
  const draft = `${fileIn(root)}.${process.pid}`;
  await writeFile(draft, JSON.stringify(progress));
  await rename(draft, fileIn(root));
};

/** The last progress written; undefined without a file. */
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
