/** The part of a source that holds its manifest. */

import type { BlobStore } from "../blobs/blobs";
import type { MediaObject } from "../store/media-object";
import type { Readable } from "node:stream";

/** Bytes at the start of a picture in which its manifest is looked for. Most manifests have less than 20 kB for each step of a chain. */
const HEAD_BYTES = 256 * 1024;

const SIGNATURE_BYTES = 8;
const CHUNK_HEADER_BYTES = 8;
const CHUNK_BYTES = 12;
const END_CHUNK = Buffer.from("0000000049454e44ae426082", "hex");

/** Chunks before the image data, if the manifest is one of them. Other programs can write it after the image data. */
const pngPart = (head: Buffer): Buffer | undefined => {
  let hasManifest = false;
  for (let at = SIGNATURE_BYTES; at + CHUNK_HEADER_BYTES <= head.length; at += CHUNK_BYTES + head.readUInt32BE(at)) {
    const type = head.toString("latin1", at + 4, at + CHUNK_HEADER_BYTES);
    if (type === "IDAT") return hasManifest ? Buffer.concat([head.subarray(0, at), END_CHUNK]) : undefined;
    if (type === "caBX") hasManifest = true;
  }
  return undefined;
};

const MARKER = 0xff;
const START_OF_SCAN = 0xda;
const START_BYTES = 2;

/** Segments before the image data: a manifest is always one of them. */
const jpegPart = (head: Buffer): Buffer | undefined => {
  for (let at = START_BYTES; at + 4 <= head.length && head[at] === MARKER; at += 2 + head.readUInt16BE(at + 2)) {
    if (head[at + 1] === START_OF_SCAN) return head.subarray(0, at + 2);
  }
  return undefined;
};

const PARTS: Readonly<Record<string, (head: Buffer) => Buffer | undefined>> = { "image/png": pngPart, "image/jpeg": jpegPart };

/** Reads a whole stream. `buffer` of `node:stream/consumers` goes through a Blob, which takes twice the processor time. */
const contentsOf = async (stream: Readable | undefined): Promise<Buffer | undefined> => {
  const chunks: Buffer[] = [];
  if (stream) for await (const chunk of stream) chunks.push(chunk as Buffer);
  return stream && Buffer.concat(chunks);
};

/** Reads a file without image data if its manifest is at the start, else the whole file. @returns undefined if its bytes are gone */
export const readSource = async (
  blobs: Pick<BlobStore, "read">,
  { blob, contentType, bytes }: Pick<MediaObject, "blob" | "contentType" | "bytes">,
): Promise<Buffer | undefined> => {
  const partOf = Object.hasOwn(PARTS, contentType) ? PARTS[contentType] : undefined;
  if (!partOf || bytes <= HEAD_BYTES) return contentsOf(await blobs.read(blob));
  const head = await contentsOf(await blobs.read(blob, { start: 0, end: HEAD_BYTES - 1 }));
  return head && (partOf(head) ?? (await contentsOf(await blobs.read(blob))));
};
