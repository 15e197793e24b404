import { mkdir, open } from "node:fs/promises";
import { dirname, resolve } from "node:path";

/** Waits until a file or a folder is on disk. A new name in a folder is only once that folder is. */
export const syncPath = async (path: string): Promise<void> => {
  const handle = await open(path, "r");
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
};

/** Makes a folder, and those that it is in, where they are missing: on disk when this resolves. */
export const makeFolder = async (path: string): Promise<void> => {
  const first = await mkdir(path, { recursive: true });
  if (first === undefined) return;
  const top = resolve(first);
  for (let made = resolve(path); made.length >= top.length; made = dirname(made)) await syncPath(dirname(made));
};
