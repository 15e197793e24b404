import { LIMITS } from "@nodeloom/kernel";
import type { media } from "@nodeloom/proto";

/** How media is called by all who call it. */

/** Bytes of one message of an upload. */
const UPLOAD_CHUNK_BYTES = 64 * 1024;

/** A file as media takes it: what it is, its bytes in pieces of bounded size, and that these are all. */
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

/** Asks for many files by their ids or keys, as many at once as one request may name. */
export const inMediaBatches = async <T>(names: readonly string[], ask: (batch: string[]) => Promise<T[]>): Promise<T[]> => {
  const found: T[] = [];
  for (let from = 0; from < names.length; from += LIMITS.mediaIds) found.push(...(await ask(names.slice(from, from + LIMITS.mediaIds))));
  return found;
};
