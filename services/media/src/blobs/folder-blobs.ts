import { createReadStream } from "node:fs";
import { mkdir, open, rename, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { BlobStore } from "./blobs";
import { syncPath } from "./folders";
import { openStaging } from "./staging";

/** @returns whether the folder of the new name is there */
const renamed = async (from: string, to: string): Promise<boolean> => {
  try {
    await rename(from, to);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return false;
    throw error;
  }
};

/**
 * Blobs as files of a folder: written to a temporary file, which is renamed into place once it is on disk, so that a name is either
 * absent or complete whenever the machine stops.
 */
export const openFolderBlobs = async (root: string): Promise<BlobStore> => {
  const staging = await openStaging(root);
  const pathOf = (name: string): string => join(root, name.slice(0, 2), name.slice(2, 4), name);

  /** Folders that are on disk with those that they are in, by the four hexadecimal digits that name them. */
  const known = new Set<string>();

  const keep = async (from: string, name: string): Promise<void> => {
    await syncPath(from);
    const path = pathOf(name);
    const folder = dirname(path);
    const digits = name.slice(0, 4);
    if (known.has(digits) && (await renamed(from, path))) return syncPath(folder);
    await mkdir(folder, { recursive: true });
    await rename(from, path);
    // Another process may have made the folders a moment ago, and not be done with this.
    await Promise.all([folder, dirname(folder), root].map(syncPath));
    known.add(digits);
  };

  return {
    stage: async (source, maxBytes) => {
      const { moved, ...staged } = await staging.stage(source, maxBytes);
      return { ...staged, keep: (name) => keep(staged.path, name).then(moved) };
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
