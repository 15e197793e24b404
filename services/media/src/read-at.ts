import type { FileHandle } from "node:fs/promises";

/** Reads bytes of a file. Returns fewer at its end. */
export const readAt = async (handle: FileHandle, at: number, length: number): Promise<Buffer> => {
  const { buffer, bytesRead } = await handle.read(Buffer.alloc(length), 0, length, at);
  return buffer.subarray(0, bytesRead);
};
