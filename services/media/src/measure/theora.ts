import type { Measurements } from "./measure";
import type { ReadAt } from "./tiff";

/**
 * Theora video in Ogg. The first packet has the size and the last page has the number of the last frame (Theora specification, 6.2 and
 * A.2.3).
 */

const HEAD_BYTES = 64 * 1_024;
/** Covers more than one page. */
const TAIL_BYTES = 128 * 1_024;
const SIGNATURE = Buffer.from("\x80theora", "latin1");
const PAGE = Buffer.from("OggS", "latin1");
const SERIAL_AT = 14;
const GRANULE_AT = 6;
const HEADER_BYTES = 42;
const NO_GRANULE = 2n ** 64n - 1n;
const MS = 1_000;

/** Number of frames up to the last page of a stream. @param shift bits that store the distance to the last key frame */
const framesOf = (tail: Buffer, serial: number, shift: bigint): number => {
  for (let at = tail.lastIndexOf(PAGE); at >= 0; at = at === 0 ? -1 : tail.lastIndexOf(PAGE, at - 1)) {
    if (at + SERIAL_AT + 4 > tail.length || tail.readUInt32LE(at + SERIAL_AT) !== serial) continue;
    const granule = tail.readBigUInt64LE(at + GRANULE_AT);
    if (granule !== NO_GRANULE) return Number((granule >> shift) + (granule & ((1n << shift) - 1n)));
  }
  return 0;
};

/** @returns undefined if the file has no Theora video @throws RangeError if its header is cut off */
export const theoraOf = async (readAt: ReadAt, size: number): Promise<Measurements | undefined> => {
  const head = await readAt(0, HEAD_BYTES);
  const at = head.indexOf(SIGNATURE);
  const pageAt = at < 0 ? -1 : head.lastIndexOf(PAGE, at);
  if (pageAt < 0) return undefined;
  const header = head.subarray(at, at + HEADER_BYTES);
  const [width, height] = [header.readUIntBE(14, 3), header.readUIntBE(17, 3)];
  const [rate, per] = [header.readUInt32BE(22), header.readUInt32BE(26)];
  const [wide, high] = [header.readUIntBE(30, 3), header.readUIntBE(33, 3)];
  const tail = await readAt(Math.max(0, size - TAIL_BYTES), TAIL_BYTES);
  const frames = framesOf(tail, head.readUInt32LE(pageAt + SERIAL_AT), BigInt((header.readUInt16BE(40) >> 5) & 31));
  const shownWidth = wide > 0 && high > 0 ? Math.round((width * wide) / high) : width;
  return { width: shownWidth, height, durationMs: rate > 0 ? Math.round((frames * per * MS) / rate) : 0 };
};
