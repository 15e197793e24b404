import { mkdir, open } from "node:fs/promises";
import { dirname, resolve } from "node:path";

/** Syncs a file or folder to disk. A new name is durable only after its folder is synced. */
export const syncPath = async (path: string): Promise<void> => {
  const handle = await open(path, "r");
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
};

/** Creates a folder with its parents and syncs them. */
export const makeFolder = async (path: string): Promise<void> => {
  const first = await mkdir(path, { recursive: true });
  if (first === undefined) return;
  const top = resolve(first);
  for (let folder = resolve(path); folder.length >= top.length; folder = dirname(folder)) await syncPath(dirname(folder));
};
