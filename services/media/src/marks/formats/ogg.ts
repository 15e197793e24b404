import type { Bytes, MarkFormat } from "../edits";
import { withComment } from "./comments";

/** Ogg with Opus or Vorbis (RFC 3533, RFC 7845). Pages are numbered and have checksums. The second page starts with Vorbis comments. */

export const PAGE_HEADER_BYTES = 27;
const CHECKSUM_AT = 22;
const COUNT_AT = 26;
const MAX_SEGMENTS = 255;
const FULL_SEGMENT = 255;
const POLYNOMIAL = 0x04c11db7;

const TABLE = Uint32Array.from({ length: 256 }, (_, byte) => {
  let value = byte << 24;
  for (let bit = 0; bit < 8; bit++) value = value & 0x8000_0000 ? (value << 1) ^ POLYNOMIAL : value << 1;
  return value >>> 0;
});

/** Computes a page's checksum, with the checksum field set to zero (RFC 3533, section 6). */
const checksum = (page: Uint8Array): number =>
  page.reduce((value, byte) => ((value << 8) ^ TABLE[((value >>> 24) ^ byte) & 0xff]!) >>> 0, 0);

export interface Page {
  header: Buffer;
  segments: Buffer;
  body: Buffer;
}

export const pageAt = async (bytes: Bytes, at: number): Promise<Page | undefined> => {
  const header = await bytes.read(at, PAGE_HEADER_BYTES);
  if (header.length < PAGE_HEADER_BYTES || header.toString("latin1", 0, 4) !== "OggS") return undefined;
  const segments = await bytes.read(at + PAGE_HEADER_BYTES, header[COUNT_AT]!);
  const length = segments.reduce((sum, one) => sum + one, 0);
  const body = await bytes.read(at + PAGE_HEADER_BYTES + segments.length, length);
  return body.length === length ? { header, segments, body } : undefined;
};

export const bytesOf = ({ header, segments, body }: Page): Buffer => {
  const page = Buffer.concat([header, segments, body]);
  page[COUNT_AT] = segments.length;
  page.writeUInt32LE(0, CHECKSUM_AT);
  page.writeUInt32LE(checksum(page), CHECKSUM_AT);
  return page;
};

/** Segment lengths of a packet. */
const lacing = (length: number): Buffer =>
  Buffer.from([...Array<number>(Math.floor(length / FULL_SEGMENT)).fill(FULL_SEGMENT), length % FULL_SEGMENT]);

/** First bytes of comment packets. */
export const STARTS = [Buffer.from("OpusTags", "latin1"), Buffer.from("\x03vorbis", "latin1")];

/** After the mark is added, the comments must still end on their page, because pages are numbered. */
export const ogg: MarkFormat = async (bytes, type) => {
  const first = await pageAt(bytes, 0);
  if (!first) return undefined;
  const at = PAGE_HEADER_BYTES + first.segments.length + first.body.length;
  const page = await pageAt(bytes, at);
  const start = page && STARTS.find((one) => page.body.subarray(0, one.length).equals(one));
  const last = page ? page.segments.findIndex((length) => length < FULL_SEGMENT) : -1;
  if (!page || !start || last < 0) return undefined;
  const length = last * FULL_SEGMENT + page.segments[last]!;
  const list = withComment(page.body.subarray(start.length, length), type);
  if (list === undefined || list === "marked") return list;
  const segments = Buffer.concat([lacing(start.length + list.length), page.segments.subarray(last + 1)]);
  if (segments.length > MAX_SEGMENTS) return undefined;
  const insert = bytesOf({ header: page.header, segments, body: Buffer.concat([start, list, page.body.subarray(length)]) });
  return [{ at, remove: PAGE_HEADER_BYTES + page.segments.length + page.body.length, insert }];
};
