import { LIMITS } from "@nodeloom/kernel";
import type { media } from "@nodeloom/proto";

const UPLOAD_CHUNK_BYTES = 64 * 1024;

/** The messages of a file's upload: its header, its bytes in chunks, its end. */
export async function* uploadParts(
  header: media.UploadHeader,
  bytes: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
): AsyncIterable<media.UploadRequest> {
  yield { part: { $case: "header", value: header } };
  for await (const piece of bytes) {
    const { buffer, byteOffset, length } = piece;
    for (let from = 0; from < length; from += UPLOAD_CHUNK_BYTES)
      yield { part: { $case: "chunk", value: Buffer.from(buffer, byteOffset + from, Math.min(UPLOAD_CHUNK_BYTES, length - from)) } };
  }
  yield { part: { $case: "end", value: {} } };
}

/** Asks for many files by their ids or keys, in batches of what one request may name. */
export const inMediaBatches = async <T>(names: readonly string[], ask: (batch: string[]) => Promise<T[]>): Promise<T[]> => {
  const found: T[] = [];
  for (let from = 0; from < names.length; from += LIMITS.mediaIds) found.push(...(await ask(names.slice(from, from + LIMITS.mediaIds))));
  return found;
};
