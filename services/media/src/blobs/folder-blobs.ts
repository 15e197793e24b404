import { createReadStream } from "node:fs";
import { mkdir, open, rename, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { BlobStore } from "./blobs";
import { openStaging } from "./staging";

/** A rename is on disk only once its folder is. */
const syncFolder = async (path: string): Promise<void> => {
  const handle = await open(path, "r");
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
};

/**
 * Blobs as files of a folder: written to a temporary file, flushed, then renamed into place, so that a name is either
 * absent or complete whenever the machine stops.
 */
export const openFolderBlobs = async (root: string): Promise<BlobStore> => {
  const staging = await openStaging(root);
  const pathOf = (name: string): string => join(root, name.slice(0, 2), name.slice(2, 4), name);

  const keep = async (from: string, name: string): Promise<void> => {
    const path = pathOf(name);
    await rename(from, path).catch(async (error: NodeJS.ErrnoException) => {
      if (error.code !== "ENOENT") throw error;
      // The first one in its folder.
      await mkdir(dirname(path), { recursive: true });
      await rename(from, path);
    });
    await syncFolder(dirname(path));
  };

  return {
    stage: async (source, maxBytes) => {
      const { path, moved, ...staged } = await staging.stage(source, maxBytes);
      return { ...staged, keep: (name) => keep(path, name).then(moved) };
    },
    read: async (name, range) => {
      const handle = await open(pathOf(name), "r").catch((error: NodeJS.ErrnoException) => {
        if (error.code === "ENOENT") return undefined;
        throw error;
      });
      return handle && createReadStream("", { fd: handle, ...range });
    },
    remove: (name) => rm(pathOf(name), { force: true }),
    check: staging.check,
    close: () => undefined,
  };
};
