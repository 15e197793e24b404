import { tiffTags, UPRIGHT, type ReadAt } from "./tiff";

/** EXIF orientation of PNG and WebP images. A library reads the orientation of JPEG files. */

/** Maximum chunks. Animations have one or two per frame. */
const MOST_CHUNKS = 100_000;
const MOST_BYTES = 64 * 1_024;
const EXIF_HEADER = "Exif\0\0";

const orientationIn = async (block: Buffer): Promise<number> => {
  const tiff = block.subarray(block.toString("latin1", 0, EXIF_HEADER.length) === EXIF_HEADER ? EXIF_HEADER.length : 0);
  return (await tiffTags((at, length) => Promise.resolve(tiff.subarray(at, at + length)))).orientation;
};

interface Chunks {
  /** Offset of the first chunk, and the number of bytes before and after each chunk's content. */
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

/** @returns 1 to 8; 1 is upright @throws RangeError if the block refers to a position outside itself */
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
