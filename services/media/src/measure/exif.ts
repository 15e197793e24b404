/** How a PNG or WebP picture is turned, by the EXIF block in its chunks. JPEG files are read by a library. */

export type ReadAt = (at: number, length: number) => Promise<Buffer>;

/** Chunks that are looked at; animations have one or two for each picture. */
const MOST_CHUNKS = 100_000;
const MOST_BYTES = 64 * 1_024;
const ORIENTATION = 0x0112;
const ENTRY_BYTES = 12;
const UPRIGHT = 1;
const EXIF_HEADER = "Exif\0\0";

/** The orientation that a block of EXIF says, 1 to 8. Of its first directory alone: others are of thumbnails. */
const orientationIn = (block: Buffer): number => {
  const tiff = block.subarray(block.toString("latin1", 0, EXIF_HEADER.length) === EXIF_HEADER ? EXIF_HEADER.length : 0);
  const isLittle = tiff.toString("latin1", 0, 2) === "II";
  const short = (at: number): number => (isLittle ? tiff.readUInt16LE(at) : tiff.readUInt16BE(at));
  const directory = isLittle ? tiff.readUInt32LE(4) : tiff.readUInt32BE(4);
  for (let index = 0; index < short(directory); index += 1) {
    const entry = directory + 2 + ENTRY_BYTES * index;
    if (short(entry) === ORIENTATION) return short(entry + 8);
  }
  return UPRIGHT;
};

interface Chunks {
  /** Where the first one begins, and what stands before and behind the content of each. */
  first: number;
  before: number;
  behind: (length: number) => number;
  header: (bytes: Buffer) => { name: string; length: number };
  exif: string;
}

const PNG: Chunks = {
  first: 8,
  before: 8,
  behind: () => 4,
  header: (bytes) => ({ length: bytes.readUInt32BE(0), name: bytes.toString("latin1", 4, 8) }),
  exif: "eXIf",
};
const WEBP: Chunks = {
  first: 12,
  before: 8,
  behind: (length) => length % 2,
  header: (bytes) => ({ name: bytes.toString("latin1", 0, 4), length: bytes.readUInt32LE(4) }),
  exif: "EXIF",
};
const FORMATS: Readonly<Record<string, Chunks>> = { "image/png": PNG, "image/webp": WEBP };

/** @returns 1 to 8; 1 is upright @throws RangeError where the block leads out of itself */
export const orientationOf = async (readAt: ReadAt, contentType: string): Promise<number> => {
  const chunks = FORMATS[contentType];
  if (!chunks) return UPRIGHT;
  let at = chunks.first;
  for (let count = 0; count < MOST_CHUNKS; count += 1) {
    const header = await readAt(at, chunks.before);
    if (header.length < chunks.before) return UPRIGHT;
    const { name, length } = chunks.header(header);
    if (name === chunks.exif) return orientationIn(await readAt(at + chunks.before, Math.min(length, MOST_BYTES)));
    at += chunks.before + length + chunks.behind(length);
  }
  return UPRIGHT;
};
