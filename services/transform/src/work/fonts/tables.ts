import { readFileSync } from "node:fs";

/**
 * Reads a font file's characters from its `cmap` table (OpenType, subtable formats 4 and 12), and its line height. Only for the bundled
 * fonts.
 */

const HEADER_BYTES = 12;
const RECORD_BYTES = 16;
const SEGMENT_BYTES = 2;
const GROUP_BYTES = 12;

/** First and last code point. */
type Range = readonly [first: number, last: number];

const tableAt = (font: Buffer, tag: string): number => {
  const tables = font.readUInt16BE(4);
  for (let index = 0; index < tables; index += 1) {
    const at = HEADER_BYTES + RECORD_BYTES * index;
    if (font.toString("latin1", at, at + 4) === tag) return font.readUInt32BE(at + 8);
  }
  throw new Error(`the font has no table ${tag}`);
};

/** Reads format 12, which has groups of code points in all planes. */
const groupsAt = (font: Buffer, at: number): Range[] =>
  Array.from({ length: font.readUInt32BE(at + 12) }, (_, index) => {
    const group = at + 16 + GROUP_BYTES * index;
    return [font.readUInt32BE(group), font.readUInt32BE(group + 4)];
  });

/** Reads format 4, which has segments of the first plane. The last one is an end marker. */
const segmentsAt = (font: Buffer, at: number): Range[] => {
  const bytes = font.readUInt16BE(at + 6);
  const [ends, starts] = [at + 14, at + 16 + bytes];
  return Array.from({ length: bytes / SEGMENT_BYTES - 1 }, (_, index) => [
    font.readUInt16BE(starts + SEGMENT_BYTES * index),
    font.readUInt16BE(ends + SEGMENT_BYTES * index),
  ]);
};

const rangesOf = (font: Buffer): Range[] => {
  const cmap = tableAt(font, "cmap");
  const subtables = Array.from({ length: font.readUInt16BE(cmap + 2) }, (_, index) => cmap + font.readUInt32BE(cmap + 8 + 8 * index));
  const withFormat = (format: number): number | undefined => subtables.find((at) => font.readUInt16BE(at) === format);
  const [whole, firstPlane] = [withFormat(12), withFormat(4)];
  if (whole !== undefined) return groupsAt(font, whole);
  if (firstPlane !== undefined) return segmentsAt(font, firstPlane);
  throw new Error("the font's table of signs can't be read");
};

export interface FontTables {
  /** Code points with glyphs. */
  points: ReadonlySet<number>;
  /** Line height in ems, as measured by caption players (`usWinAscent` and `usWinDescent`). */
  lineHeight: number;
}

export const tablesOf = (path: string): FontTables => {
  const font = readFileSync(path);
  const points = new Set<number>();
  for (const [first, last] of rangesOf(font)) for (let point = first; point <= last; point += 1) points.add(point);
  const metrics = tableAt(font, "OS/2");
  const unitsPerEm = font.readUInt16BE(tableAt(font, "head") + 18);
  return { points, lineHeight: (font.readUInt16BE(metrics + 74) + font.readUInt16BE(metrics + 76)) / unitsPerEm };
};
