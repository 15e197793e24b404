/** Reads table files (CSV): text encoding, separator and cell values. Services and the console use it. */
import { isInexactInteger, parseExact } from "./json-text";
import { decodeText } from "./text-encoding";

/** Thrown if a table or a cell can't be read. The message is for the file's author. */
export class TableProblem extends Error {
  override readonly name = "TableProblem";
}

const AS_UTF8 = "save it as CSV UTF-8";

const startsWith = (bytes: Uint8Array, start: readonly number[]): boolean => start.every((byte, index) => bytes[index] === byte);

const WESTERN = "windows-1252";
/** First bytes of a file that tell whether it is UTF-16. */
export const SAMPLE_BYTES = 1_000;

/** Detects UTF-16 by its byte order mark, or by a zero at every other byte of mostly ASCII text. */
const utf16Of = (bytes: Uint8Array): "utf-16le" | "utf-16be" | undefined => {
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

const noText = (): TableProblem => new TableProblem(`isn't text: ${AS_UTF8}`);
const unknownEncoding = (): TableProblem => new TableProblem(`is neither UTF-8, UTF-16 nor Windows-1252 text: ${AS_UTF8}`);

/** @param start the beginning of a file @throws TableProblem if the file isn't text */
const unicodeOf = (start: Uint8Array): "utf-8" | "utf-16le" | "utf-16be" => {
  const other = NO_TEXT.find(([, signature]) => startsWith(start, signature))?.[0];
  if (other !== undefined) throw new TableProblem(`is ${other}: ${AS_UTF8}`);
  return utf16Of(start) ?? "utf-8";
};

/**
 * Decodes a table in UTF-8, UTF-16 or Windows-1252, which Excel uses in Western Europe.
 * @throws TableProblem for another encoding, and for files that aren't text
 */
export const tableText = (bytes: Uint8Array): string => {
  const encoding = unicodeOf(bytes);
  const unicode = decodeText(bytes, encoding);
  const text = unicode ?? (encoding === "utf-8" ? decodeText(bytes, WESTERN) : undefined);
  if (text === undefined || CONTROL.test(text)) throw noText();
  if (unicode === undefined && !isWestern(text)) throw unknownEncoding();
  return text;
};

export type TableEncoding = ReturnType<typeof unicodeOf> | typeof WESTERN;
type Bytes = AsyncIterable<Uint8Array>;

/** Thrown for bytes that are invalid in an encoding. */
class InvalidBytes extends Error {
  override readonly name = "InvalidBytes";
}

/** Decodes a file piece by piece. @throws InvalidBytes */
export async function* decodedPieces(bytes: Bytes, encoding: TableEncoding): AsyncIterable<string> {
  const decoder = new TextDecoder(encoding, { fatal: true });
  const decode = (piece?: Uint8Array): string => {
    try {
      return piece ? decoder.decode(piece, { stream: true }) : decoder.decode();
    } catch (error) {
      throw new InvalidBytes(`a byte isn't ${encoding}`, { cause: error });
    }
  };
  for await (const piece of bytes) yield decode(piece);
  yield decode();
}

/** Characters of the last piece that are checked again with the next one. A word may be cut between them. */
const OVERLAP_CHARS = 100;

/** @throws TableProblem if the text isn't text, or not of the encoding @throws InvalidBytes */
const checkPieces = async (bytes: Bytes, encoding: TableEncoding): Promise<void> => {
  let last = "";
  for await (const text of decodedPieces(bytes, encoding)) {
    if (CONTROL.test(text)) throw noText();
    if (encoding === WESTERN && !isWestern(last + text)) throw unknownEncoding();
    last = text.slice(-OVERLAP_CHARS);
  }
};

/**
 * Detects the encoding of a table that is too large for memory, like `tableText`.
 * @param start the first bytes of the file, at least 1,000 if it has as many
 * @param read reads the file from its beginning, up to twice
 * @throws TableProblem for another encoding, and for files that aren't text
 */
export const tableEncoding = async (start: Uint8Array, read: () => Bytes): Promise<TableEncoding> => {
  const encoding = unicodeOf(start);
  try {
    await checkPieces(read(), encoding);
    return encoding;
  } catch (error) {
    if (!(error instanceof InvalidBytes)) throw error;
    if (encoding !== "utf-8") throw noText();
    await checkPieces(read(), WESTERN);
    return WESTERN;
  }
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
