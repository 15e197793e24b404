import { LIMITS } from "@nodeloom/kernel";
import type { media } from "@nodeloom/proto";
import type { ClientOf } from "../grpc/client";

const CHUNK_BYTES = 64 * 1024;

/** Splits bytes into chunks that fit into one message. */
export async function* pieces(bytes: AsyncIterable<Uint8Array> | Iterable<Uint8Array>): AsyncIterable<Buffer> {
  for await (const { buffer, byteOffset, length } of bytes)
    for (let from = 0; from < length; from += CHUNK_BYTES)
      yield Buffer.from(buffer, byteOffset + from, Math.min(CHUNK_BYTES, length - from));
}

/** Messages of a verification: the file's bytes in chunks, followed by an end message. */
export async function* verifyParts(bytes: AsyncIterable<Uint8Array> | Iterable<Uint8Array>): AsyncIterable<media.VerifyRequest> {
  for await (const value of pieces(bytes)) yield { part: { $case: "chunk", value } };
  yield { part: { $case: "end", value: {} } };
}

/** Messages of an upload: a header, the bytes in chunks, and an end message. */
export async function* uploadParts(
  header: media.UploadHeader,
  bytes: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
): AsyncIterable<media.UploadRequest> {
  yield { part: { $case: "header", value: header } };
  yield* verifyParts(bytes);
}

export async function* objectBytes(
  client: Pick<ClientOf<media.MediaServiceServer>, "readObject">,
  key: string,
  deadlineMs: number,
): AsyncIterable<Uint8Array> {
  for await (const { part } of client.readObject({ key }, { deadlineMs })) if (part?.$case === "chunk") yield part.value;
}

/** Requests many files by ids or keys, in batches that fit into one request. */
export const inMediaBatches = async <T>(names: readonly string[], ask: (batch: string[]) => Promise<T[]>): Promise<T[]> => {
  const results: T[] = [];
  for (let from = 0; from < names.length; from += LIMITS.mediaIds) results.push(...(await ask(names.slice(from, from + LIMITS.mediaIds))));
  return results;
};
