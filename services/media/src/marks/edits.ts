import type { SourceType } from "./xmp";

/** Random access to a file, for small reads. */
export interface Bytes {
  size: number;
  /** Returns fewer bytes at the end of the file. */
  read(at: number, length: number): Promise<Buffer>;
}

/** A replacement in a file, which removes bytes and inserts others. */
export interface Edit {
  at: number;
  remove: number;
  insert: Uint8Array;
}

export const insertion = (at: number, insert: Uint8Array): Edit => ({ at, remove: 0, insert });
export const replacement = (at: number, insert: Uint8Array): Edit => ({ at, remove: insert.length, insert });

const PIECE_BYTES = 256 * 1024;

async function* between(bytes: Bytes, from: number, to: number): AsyncIterable<Uint8Array> {
  for (let at = from; at < to;) {
    const piece = await bytes.read(at, Math.min(PIECE_BYTES, to - at));
    if (piece.length === 0) throw new Error("the file became shorter while it was read");
    yield piece;
    at += piece.length;
  }
}

/** Streams a file with non-overlapping edits applied. */
export async function* edited(bytes: Bytes, edits: readonly Edit[]): AsyncIterable<Uint8Array> {
  let at = 0;
  for (const edit of [...edits].sort((one, other) => one.at - other.at)) {
    yield* between(bytes, at, edit.at);
    if (edit.insert.length > 0) yield edit.insert;
    at = edit.at + edit.remove;
  }
  yield* between(bytes, at, bytes.size);
}

const WINDOW_BYTES = 64 * 1024;

/** Serves small consecutive reads from one larger read. */
export const windowed = (bytes: Bytes): Bytes => {
  let start = 0;
  let window: Buffer = Buffer.alloc(0);
  return {
    size: bytes.size,
    read: async (at, length) => {
      if (length > WINDOW_BYTES) return bytes.read(at, length);
      const isInside = at >= start && at + length <= start + window.length;
      if (!isInside) [start, window] = [at, await bytes.read(at, WINDOW_BYTES)];
      return window.subarray(at - start, at - start + length);
    },
  };
};

/**
 * Returns the edits that add a mark of origin to a file, or `marked` if it has one. Undefined if the file is malformed or has no room for a
 * mark. The contents of files are untrusted.
 */
export type MarkFormat = (bytes: Bytes, type: SourceType) => Promise<Edit[] | "marked" | undefined>;
