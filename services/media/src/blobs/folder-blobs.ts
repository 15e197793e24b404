import { createReadStream } from "node:fs";
import { mkdir, open, rename, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { BlobStore, StagedBlob } from "./blobs";
import { syncPath } from "./folders";
import { diskFailure, openStaging, type StagedFile } from "./staging";

const rethrowAsFailure = (error: unknown): never => {
  throw diskFailure(error);
};

/** @returns false if the target folder is missing */
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
 * Stores blobs as files in a folder. A blob is written to a temporary file, synced and renamed, so after a crash a name either doesn't
 * exist or has all bytes.
 */
export const openFolderBlobs = async (root: string): Promise<BlobStore> => {
  const staging = await openStaging(root);
  const pathOf = (name: string): string => join(root, name.slice(0, 2), name.slice(2, 4), name);

  /** Folders that are already synced with their parents, by their four hexadecimal digits. */
  const knownDigits = new Set<string>();

  const keep = async (from: string, name: string): Promise<void> => {
    await syncPath(from);
    const path = pathOf(name);
    const folder = dirname(path);
    const digits = name.slice(0, 4);
    if (knownDigits.has(digits) && (await renamed(from, path))) return syncPath(folder);
    await mkdir(folder, { recursive: true });
    await rename(from, path);
    // Another process may have created the folders and not synced them yet.
    await Promise.all([folder, dirname(folder), root].map(syncPath));
    knownDigits.add(digits);
  };

  const remove = (name: string): Promise<void> => rm(pathOf(name), { force: true });

  const toBlob = ({ moved, ...staged }: StagedFile): StagedBlob => ({
    ...staged,
    keep: (name) => keep(staged.path, name).then(moved, rethrowAsFailure),
  });

  return {
    stage: async (source, maxBytes) => toBlob(await staging.stage(source, maxBytes)),
    stageFile: async (create) => toBlob(await staging.stageFile(create)),
    read: async (name, range) => {
      const handle = await open(pathOf(name), "r").catch((error: NodeJS.ErrnoException) => {
        if (error.code === "ENOENT") return undefined;
        throw error;
      });
      return handle && createReadStream("", { fd: handle, ...range });
    },
    remove,
    removeAll: async (names) => void (await Promise.all(names.map(remove))),
    check: staging.check,
    close: () => undefined,
  };
};
