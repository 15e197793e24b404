import { open } from "node:fs/promises";
import type { BlobStore, StagedBlob } from "../blobs/blobs";
import { edited, type Bytes, type Edit } from "./edits";

/**
 * Applies edits to staged bytes.
 * @param roomBytes bytes by which the file can grow
 * @returns the edited bytes, or the given ones if there are no edits
 */
export const editStaged = async (
  blobs: Pick<BlobStore, "stage">,
  staged: StagedBlob,
  editsOf: (file: Bytes) => Promise<readonly Edit[]>,
  roomBytes = 0,
): Promise<StagedBlob> => {
  const handle = await open(staged.path, "r");
  try {
    const read: Bytes["read"] = async (at, length) => {
      const { buffer, bytesRead } = await handle.read(Buffer.alloc(length), 0, length, at);
      return buffer.subarray(0, bytesRead);
    };
    const file = { size: staged.bytes, read };
    const edits = await editsOf(file);
    return edits.length === 0 ? staged : await blobs.stage(edited(file, edits), staged.bytes + roomBytes);
  } finally {
    await handle.close();
  }
};
