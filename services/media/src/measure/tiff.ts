/** Reads the first directory of a TIFF file or EXIF block (TIFF 6.0). Later directories describe thumbnails and further pages. */

export type ReadAt = (at: number, length: number) => Promise<Buffer>;

const TAGS = { width: 0x0100, height: 0x0101, orientation: 0x0112 } as const;
const HEADER_BYTES = 8;
const ENTRY_BYTES = 12;
/** Maximum entries that are read. Directories are sorted, and the required tags come early. */
const MOST_ENTRIES = 1_000;
const LONG = 4;
export const UPRIGHT = 1;

export interface TiffTags {
  width: number | undefined;
  height: number | undefined;
  /** EXIF orientation from 1 to 8; 1 is upright. */
  orientation: number;
}

interface Numbers {
  short(bytes: Buffer, at: number): number;
  long(bytes: Buffer, at: number): number;
}

/** Reads numbers in the byte order that a header names. */
export const numbersOf = (header: Buffer): Numbers => {
  const isLittle = header.toString("latin1", 0, 2) === "II";
  return {
    short: (bytes, at) => (isLittle ? bytes.readUInt16LE(at) : bytes.readUInt16BE(at)),
    long: (bytes, at) => (isLittle ? bytes.readUInt32LE(at) : bytes.readUInt32BE(at)),
  };
};

/** @throws RangeError if the directory extends beyond the file */
export const tiffTags = async (readAt: ReadAt): Promise<TiffTags> => {
  const header = await readAt(0, HEADER_BYTES);
  const { short, long } = numbersOf(header);
  const at = long(header, 4);
  const count = Math.min(MOST_ENTRIES, short(await readAt(at, 2), 0));
  const entries = await readAt(at + 2, count * ENTRY_BYTES);
  const tags = new Map<number, number>();
  for (let entry = 0; entry < count * ENTRY_BYTES; entry += ENTRY_BYTES) {
    const value = short(entries, entry + 2) === LONG ? long : short;
    tags.set(short(entries, entry), value(entries, entry + 8));
  }
  return { width: tags.get(TAGS.width), height: tags.get(TAGS.height), orientation: tags.get(TAGS.orientation) ?? UPRIGHT };
};
