/** Reads table files (CSV): text encoding, separator and cell values. Services and the console use it. */
import { isInexactInteger, parseExact } from "./json-text";
import { decodeText } from "./text-encoding";

/** Thrown if a table or a cell can't be read. The message is for the file's author. */
export class TableProblem extends Error {
  override readonly name = "TableProblem";
}

const AS_UTF8 = "save it as CSV UTF-8";

const startsWith = (bytes: Uint8Array, start: readonly number[]): boolean => start.every((byte, index) => bytes[index] === byte);

const SAMPLE_BYTES = 1_000;

/** Detects UTF-16 by its byte order mark, or by a zero at every other byte of mostly ASCII text. */
const utf16Of = (bytes: Uint8Array): string | undefined => {
  if (startsWith(bytes, [0xff, 0xfe])) return "utf-16le";
  if (startsWith(bytes, [0xfe, 0xff])) return "utf-16be";
  const sample = bytes.subarray(0, SAMPLE_BYTES);
  const zeros = [0, 0];
  sample.forEach((byte, index) => (zeros[index % 2]! += byte === 0 ? 1 : 0));
  const [even, odd] = zeros.map((count) => count > sample.length / 4);
  return even === odd ? undefined : odd ? "utf-16le" : "utf-16be";
};

/** Signatures of files that aren't text. */
const NO_TEXT: readonly (readonly [string, readonly number[]])[] = [
  ["an Excel or ZIP file", [0x50, 0x4b, 0x03, 0x04]],
  ["an Excel file", [0xd0, 0xcf, 0x11, 0xe0]],
  ["a PDF file", [0x25, 0x50, 0x44, 0x46]],
  ["a gzip file", [0x1f, 0x8b]],
];

/** Characters that Windows-1252 doesn't define. */
const UNUSED = /[\x81\x8d\x8f\x90\x9d]/;
/** Sequences of characters beyond ASCII. The non-breaking space doesn't count. */
const BEYOND_ASCII = /[^\0-\x7f\xa0]+/g;
const PUNCTUATION = new Set("‚„…‘’“”‹›«»•–—¡¿€£§°´·©®™");
/** Words of Western European languages have at most two adjacent letters beyond ASCII. Lists of letters have more. */
const MOST_IN_ROW = 2;
const LISTED = /^(?:[äöüßÄÖÜ]+|[æøåÆØÅ]+|[åäöÅÄÖ]+)$/;

/** True if a sequence of characters beyond ASCII looks like a word in another alphabet. */
const isOtherWord = (row: string): boolean => {
  const chars = [...row];
  const [from, to] = [chars.findIndex((one) => !PUNCTUATION.has(one)), chars.findLastIndex((one) => !PUNCTUATION.has(one))];
  return to - from >= MOST_IN_ROW && !LISTED.test(row.slice(from, to + 1));
};

/**
 * A sign or capital between small letters, or a florin sign before a letter. It indicates a Central European, Macintosh or Japanese
 * encoding.
 */
const OTHER_LETTER = /[a-zß-öø-ÿ][¡-©¬®¯±-³µ¶¸¹¼-¿ŠŒŽŸÀ-ÖØ-Þ][a-zß-öø-ÿ]|ƒ[A-Za-z]/;
/** Control characters that don't occur in text. Tabs and line breaks are allowed. */
const CONTROL = /[\0-\x08\x0e-\x1f]/;

const isWestern = (text: string): boolean =>
  !UNUSED.test(text) && !OTHER_LETTER.test(text) && !(text.match(BEYOND_ASCII) ?? []).some(isOtherWord);

/**
 * Decodes a table in UTF-8, UTF-16 or Windows-1252, which Excel uses in Western Europe.
 * @throws TableProblem for another encoding, and for files that aren't text
 */
export const tableText = (bytes: Uint8Array): string => {
  const other = NO_TEXT.find(([, start]) => startsWith(bytes, start))?.[0];
  if (other !== undefined) throw new TableProblem(`is ${other}: ${AS_UTF8}`);
  const utf16 = utf16Of(bytes);
  const unicode = decodeText(bytes, utf16 ?? "utf-8");
  const text = unicode ?? (utf16 === undefined ? decodeText(bytes, "windows-1252") : undefined);
  if (text === undefined || CONTROL.test(text)) throw new TableProblem(`isn't text: ${AS_UTF8}`);
  if (unicode === undefined && !isWestern(text)) throw new TableProblem(`is neither UTF-8, UTF-16 nor Windows-1252 text: ${AS_UTF8}`);
  return text;
};

export const SEPARATORS = { comma: ",", semicolon: ";", tab: "\t" } as const;
export type SeparatorName = keyof typeof SEPARATORS;

/** The separator that occurs most often in the first line, outside quotes. */
export const separatorOf = (text: string): SeparatorName => {
  const counts = new Map<string, number>();
  let inQuotes = false;
  for (const char of text.slice(0, text.indexOf("\n") + 1 || text.length)) {
    if (char === '"') inQuotes = !inQuotes;
    else if (!inQuotes) counts.set(char, (counts.get(char) ?? 0) + 1);
  }
  const count = (name: SeparatorName): number => counts.get(SEPARATORS[name]) ?? 0;
  return (["semicolon", "tab"] as const).reduce<SeparatorName>((best, name) => (count(name) > count(best) ? name : best), "comma");
};

export type CellType = "text" | "number" | "boolean" | "json" | "files";

const BOOLEANS: ReadonlyMap<string, boolean> = new Map([
  ...["true", "yes", "1"].map((word) => [word, true] as const),
  ...["false", "no", "0"].map((word) => [word, false] as const),
]);

const jsonOf = (text: string): unknown => {
  try {
    return parseExact(text);
  } catch {
    throw new TableProblem(`must be JSON: put text in double quotes`);
  }
};

/**
 * The value of a cell. An invalid number or boolean stays text, which the input check rejects.
 * @throws TableProblem for invalid JSON, because any text would be a valid JSON input
 */
export const cellValue = (cell: string, type: CellType | undefined): unknown => {
  const text = cell.trim();
  switch (type) {
    case "number":
      return text !== "" && Number.isFinite(Number(text)) && !isInexactInteger(text) ? Number(text) : cell;
    case "boolean":
      return BOOLEANS.get(text.toLowerCase()) ?? cell;
    case "files":
      // Addresses and ids of files have no white space.
      return text.startsWith("[") ? jsonOf(text) : text.split(/\s+/);
    case "json":
      return jsonOf(text);
    default:
      return cell;
  }
};
