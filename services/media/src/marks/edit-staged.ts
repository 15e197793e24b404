import { open } from "node:fs/promises";
import type { BlobStore, StagedBlob } from "../blobs/blobs";
import { readAt } from "../read-at";
import { edited, type Bytes, type Edit } from "./edits";

/** Reads staged bytes at positions. */
export const withStaged = async <T>(staged: StagedBlob, work: (file: Bytes) => Promise<T>): Promise<T> => {
  const handle = await open(staged.path, "r");
  try {
    return await work({ size: staged.bytes, read: (at, length) => readAt(handle, at, length) });
  } finally {
    await handle.close();
  }
};

/** Reads a whole file with non-overlapping edits applied, into a buffer of its own. */
export const readEdited = async (path: string, edits: readonly Edit[]): Promise<Uint8Array<ArrayBuffer>> => {
  const handle = await open(path, "r");
  try {
    const { size } = await handle.stat();
    const result = Buffer.allocUnsafeSlow(edits.reduce((bytes, { remove, insert }) => bytes + insert.length - remove, size));
    let [from, to] = [0, 0];
    const readUntil = async (end: number): Promise<void> => {
      while (from < end) {
        const { bytesRead } = await handle.read(result, to, end - from, from);
        if (bytesRead === 0) throw new Error("the file became shorter while it was read");
        [from, to] = [from + bytesRead, to + bytesRead];
      }
    };
    for (const { at, remove, insert } of [...edits].sort((one, other) => one.at - other.at)) {
      await readUntil(at);
      result.set(insert, to);
      [from, to] = [at + remove, to + insert.length];
    }
    await readUntil(size);
    return result;
  } finally {
    await handle.close();
  }
};

/** Applies edits to staged bytes. @returns the edited bytes, or the given ones if there are no edits */
export const editStaged = async (blobs: Pick<BlobStore, "stage">, staged: StagedBlob, edits: readonly Edit[]): Promise<StagedBlob> => {
  if (edits.length === 0) return staged;
  const added = edits.reduce((bytes, { insert }) => bytes + insert.length, 0);
  return withStaged(staged, (file) => blobs.stage(edited(file, edits), staged.bytes + added));
};
