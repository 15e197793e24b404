import type { SourceType } from "./xmp";

/** A file that is read by position, a few bytes at a time. */
export interface Bytes {
  size: number;
  /** Fewer than asked for at the end of the file. */
  read(at: number, length: number): Promise<Buffer>;
}

/** One change of a file: some bytes go, others come. */
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

/** The file with its edits, which don't overlap, in pieces. */
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

/** The same bytes; small reads that follow each other are answered from one large one. */
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
 * What is to change in a file so that it says how it came to be. "marked": it says so already. Undefined: its bytes are not as its
 * format has them, or it has no room. Reads parts of the file; what it reads may be anything.
 */
export type MarkFormat = (bytes: Bytes, type: SourceType) => Promise<Edit[] | "marked" | undefined>;
