import { pipeline, Readable, type Transform } from "node:stream";
import { createBrotliDecompress, createGunzip, createInflate } from "node:zlib";
import { decodeText, DomainError, LIMITS, MEDIA_FAMILIES, type MediaValue } from "@nodeloom/kernel";
import { EgressError, type EgressStream, type Slots, uploadParts } from "@nodeloom/platform";
import { mediaId, storeInTurn } from "./call";
import { providerFailed } from "./failures";
import type { Media } from "../clients";
import type { HttpNodeCall } from "../run/calls";
import { TIMING } from "../run/timing";

/** Inflates the body of an HTTP response while it arrives. */

export const ACCEPT_ENCODING = "gzip, br";

const DECODERS: ReadonlyMap<string, (() => Transform) | undefined> = new Map([
  ["gzip", createGunzip],
  ["x-gzip", createGunzip],
  ["br", createBrotliDecompress],
  ["deflate", createInflate],
  ["identity", undefined],
]);
/** Maximum number of nested encodings. */
const MOST_ENCODINGS = 3;

/** @throws EXECUTION_FAILED if an encoding isn't supported */
const decodersOf = (header: string): (() => Transform)[] => {
  const names = header.toLowerCase().split(",").map((one) => one.trim()).filter(Boolean).reverse(); // prettier-ignore
  return names.flatMap((name, index) => {
    if (index >= MOST_ENCODINGS || !DECODERS.has(name))
      throw providerFailed(`the answer has the content-encoding ${name.slice(0, 100)}, which can't be read`);
    return DECODERS.get(name) ?? [];
  });
};

async function* startingWith(first: Uint8Array, rest: AsyncIterator<Uint8Array>): AsyncGenerator<Uint8Array> {
  try {
    yield first;
    yield* { [Symbol.asyncIterator]: () => rest };
  } finally {
    await rest.return?.();
  }
}

async function* inflated(bytes: AsyncIterable<Uint8Array>, decoders: (() => Transform)[], encoding: string): AsyncGenerator<Uint8Array> {
  // The reader of the last stream gets the error of any stream.
  const last = pipeline([Readable.from(bytes, { objectMode: false }), ...decoders.map((make) => make())], () => undefined);
  let total = 0;
  try {
    for await (const chunk of last as unknown as AsyncIterable<Uint8Array>) {
      total += chunk.length;
      if (total > LIMITS.mediaBytes) throw providerFailed(`the answer is larger than ${LIMITS.mediaBytes} bytes`);
      yield chunk;
    }
  } catch (error) {
    throw error instanceof EgressError || error instanceof DomainError ? error : providerFailed(`the answer is not ${encoding} as it says`);
  }
}

/**
 * Decodes the content encodings of a response body.
 * @throws EXECUTION_FAILED for an unknown encoding or malformed bytes; EgressError if the connection fails
 */
export async function* inflatedBody({ headers, body }: EgressStream): AsyncGenerator<Uint8Array> {
  const source = body[Symbol.asyncIterator]();
  const first = await source.next();
  if (first.done === true) return;
  try {
    const { "content-encoding": encoding = "" } = headers;
    const decoders = decodersOf(encoding);
    const bytes = startingWith(first.value, source);
    yield* decoders.length === 0 ? bytes : inflated(bytes, decoders, encoding.slice(0, 100));
  } finally {
    await source.return?.();
  }
}

/** Frees the connection of a response whose body isn't needed. */
export const discard = async (body: AsyncIterable<Uint8Array>): Promise<void> => {
  try {
    for await (const chunk of body) if (chunk) return;
  } catch {
    return;
  }
};

/** The first bytes of a body, and a stream of the complete body. */
export interface OpenedBody {
  start: Buffer;
  /** True if the body ends with the first bytes. */
  isWhole: boolean;
  /** Stream that starts at the first byte. It can be read once. */
  stream: AsyncIterable<Uint8Array>;
  close(): Promise<unknown>;
}

/** Reads a body until its end, or until more than `bytes` bytes have arrived. */
export const openBody = async (body: AsyncIterable<Uint8Array>, bytes: number): Promise<OpenedBody> => {
  const source = body[Symbol.asyncIterator]();
  const pieces: Uint8Array[] = [];
  let length = 0;
  let isWhole = false;
  while (length <= bytes && !isWhole) {
    const next = await source.next();
    if (next.done === true) isWhole = true;
    else {
      pieces.push(next.value);
      length += next.value.length;
    }
  }
  const start = Buffer.concat(pieces);
  return { start, isWhole, stream: startingWith(start, source), close: () => Promise.resolve(source.return?.()) };
};

const CHARSET = /;\s*charset\s*=\s*"?([^\s";]+)/i;
/** Browsers use this charset for texts that don't declare one. */
const UNTOLD_CHARSET = "windows-1252";

const isCharset = (label: string): boolean => {
  try {
    return new TextDecoder(label) instanceof TextDecoder;
  } catch {
    return false;
  }
};

/** Returns the body as text, or undefined if it isn't text. @throws EXECUTION_FAILED for an unsupported charset */
export const textOf = (content: Uint8Array, contentType: string): string | undefined => {
  const charset = CHARSET.exec(contentType)?.[1];
  if (charset !== undefined && !isCharset(charset))
    throw providerFailed(`the answer has the charset ${charset.slice(0, 100)}, which can't be read`);
  const isText = /^text\//i.test(contentType);
  const text =
    decodeText(content, charset ?? "utf-8") ?? (charset === undefined && isText ? decodeText(content, UNTOLD_CHARSET) : undefined);
  // Text never contains NUL, and most binary files do.
  return text?.includes("\0") ? undefined : text;
};

/** Stores images, videos, audio and 3D models that HTTP nodes receive. */

export type KeepAnswer = ReturnType<typeof createKeepAnswer>;

/** True if storage rejected the bytes. False if storage failed to store them. */
const isRefused = (error: unknown): boolean => error instanceof DomainError && (error.kind === "invalid" || error.kind === "failed");

export const createKeepAnswer =
  (media: Pick<Media, "upload">, downloads: Slots) =>
  /** @returns the file; undefined if storage doesn't support the file type */
  async (call: HttpNodeCall, bytes: AsyncIterable<Uint8Array>, signal: AbortSignal): Promise<MediaValue | undefined> => {
    const placement = { id: mediaId(call, 0), ownerId: call.userId, accept: [...MEDIA_FAMILIES], making: undefined };
    const put = () => media.upload(uploadParts(placement, bytes), { deadlineMs: TIMING.keepFile, signal });
    try {
      return await storeInTurn(downloads, put, { userId: call.userId, signal, problem: "its answer could not be stored" });
    } catch (error) {
      if (isRefused(error)) return undefined;
      throw error;
    }
  };
