import type { Bytes, Edit } from "../marks/edits";
import { numbersOf } from "../measure/tiff";
import type { StripFormat } from "./format";

/**
 * Finds texts of TIFF files and EXIF blocks (TIFF 6.0, EXIF 3.0). Values are found by offset, so they are overwritten without changing
 * their length, with spaces where readers expect text. XMP is kept.
 */

const HEADER_BYTES = 8;
const ENTRY_BYTES = 12;
const VALUE_AT = 8;
const MOST_ENTRIES = 1_000;
/** Maximum directories, including nested ones. */
const MOST_DIRECTORIES = 1_000;
/** Larger texts aren't removed. */
const MAX_TEXT_BYTES = 16 * 1_024 * 1_024;
const ASCII = 2;
const UTF8 = 129;
const LONG = 4;
const SIZES: ReadonlyMap<number, number> = new Map([
  [1, 1],
  [ASCII, 1],
  [3, 2],
  [LONG, 4],
  [5, 8],
  [6, 1],
  [7, 1],
  [UTF8, 1],
]);
/** Tags of directories for EXIF, GPS and sub-images. */
const DIRECTORIES: ReadonlySet<number> = new Set([0x8769, 0x8825, 0x014a]);
/** Tags of texts with other types: IPTC, Photoshop, maker note, user comment and Windows titles. */
const TEXTS: ReadonlySet<number> = new Set([0x83bb, 0x8649, 0x927c, 0x9286, 0x9c9b, 0x9c9c, 0x9c9d, 0x9c9e, 0x9c9f]);

type Reader = ReturnType<typeof numbersOf>;

const readerOf = (header: Buffer): Reader | undefined => {
  const reader = numbersOf(header);
  return /^(?:II|MM)/.test(header.toString("latin1", 0, 2)) && reader.short(header, 2) === 42 ? reader : undefined;
};

interface Text {
  at: number;
  length: number;
  isAscii: boolean;
}
interface Directory {
  texts: Text[];
  /** Offsets of further directories. */
  more: number[];
}

const directoryAt = async (bytes: Bytes, base: number, offset: number, { short, long }: Reader): Promise<Directory> => {
  const at = base + offset;
  const count = Math.min(MOST_ENTRIES, short(await bytes.read(at, 2), 0));
  const entries = await bytes.read(at + 2, count * ENTRY_BYTES + 4);
  const directory: Directory = { texts: [], more: [] };
  for (let entry = 0; entry < count * ENTRY_BYTES; entry += ENTRY_BYTES) {
    const [tag, type, values] = [short(entries, entry), short(entries, entry + 2), long(entries, entry + 4)];
    const length = (SIZES.get(type) ?? 0) * values;
    const valueAt = length > 4 ? base + long(entries, entry + VALUE_AT) : at + 2 + entry + VALUE_AT;
    if (DIRECTORIES.has(tag)) {
      const list = await bytes.read(valueAt, Math.min(length, 4 * MOST_ENTRIES));
      for (let one = 0; one + 4 <= list.length; one += 4) directory.more.push(long(list, one));
    } else if ((type === ASCII || type === UTF8 || TEXTS.has(tag)) && length > 0 && length <= MAX_TEXT_BYTES)
      directory.texts.push({ at: valueAt, length, isAscii: !TEXTS.has(tag) });
  }
  const next = long(entries, count * ENTRY_BYTES);
  if (next > 0) directory.more.push(next);
  return directory;
};

/** Overlapping ranges are dropped, because they would be edited twice. */
const overwritten = (texts: readonly Text[]): Edit[] => {
  const edits: Edit[] = [];
  let end = 0;
  for (const text of [...texts].sort((one, other) => one.at - other.at)) {
    const at = Math.max(end, text.at);
    const remove = text.at + text.length - at;
    if (remove <= 0) continue;
    const insert = Buffer.alloc(remove);
    // Spaces, because readers warn about texts with a zero before the end.
    if (text.isAscii) insert.fill(" ", 0, remove - 1);
    edits.push({ at, remove, insert });
    end = at + remove;
  }
  return edits;
};

/** @param base offset of the block in the file @returns undefined if the block isn't TIFF */
export const textsAt = async (bytes: Bytes, base: number): Promise<Edit[] | undefined> => {
  const header = await bytes.read(base, HEADER_BYTES);
  const reader = header.length < HEADER_BYTES ? undefined : readerOf(header);
  if (!reader) return undefined;
  const texts: Directory["texts"] = [];
  const visited = new Set<number>();
  const waiting = [reader.long(header, 4)];
  for (let offset = waiting.pop(); offset !== undefined && visited.size < MOST_DIRECTORIES; offset = waiting.pop()) {
    if (visited.has(offset)) continue;
    visited.add(offset);
    const directory = await directoryAt(bytes, base, offset, reader);
    texts.push(...directory.texts);
    waiting.push(...directory.more);
  }
  return overwritten(texts);
};

export const tiff: StripFormat = (bytes) => textsAt(bytes, 0);
