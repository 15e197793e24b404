import { decodeText } from "@nodeloom/kernel";
import { cellValue, decodedPieces, SAMPLE_BYTES, separatorOf, tableEncoding, TableProblem, tableText } from "@nodeloom/kernel/table-file";

/** Encodes a text in a single-byte encoding. */
const encoded = (text: string, encoding: string): Uint8Array => {
  const all = Array.from({ length: 256 }, (_, byte) => decodeText(Uint8Array.of(byte), encoding) ?? "");
  return Uint8Array.from([...text].map((char) => all.indexOf(char)));
};
const bigEndian = (text: string): Uint8Array => Buffer.from(text, "utf16le").swap16();

/** Reads a table in pieces, which cut characters and words. */
const textInPieces = async (bytes: Uint8Array): Promise<string> => {
  async function* pieces(): AsyncIterable<Uint8Array> {
    for (let from = 0; from < bytes.length; from += 3) yield bytes.subarray(from, from + 3);
  }
  const encoding = await tableEncoding(bytes.subarray(0, SAMPLE_BYTES), pieces);
  let text = "";
  for await (const piece of decodedPieces(pieces(), encoding)) text += piece;
  return text;
};

const WESTERN =
  'name,text\n"Größenübersicht","„Äpfel“ für 5 €… é à ñ ç ø Å"\nÆØÅ äöüß,"« Élan » – l’été, Muñoz ¿qué? 20°, œuvre, naïf, créées"\n';

describe("the text of a table", () => {
  it.each([
    ["UTF-8", Buffer.from(WESTERN)],
    ["UTF-8 with a mark", Buffer.from(`\ufeff${WESTERN}`)],
    ["UTF-16 with a mark", Buffer.from(`\ufeff${WESTERN}`, "utf16le")],
    ["UTF-16 without one", Buffer.from(WESTERN, "utf16le")],
    ["big-endian UTF-16", bigEndian(`\ufeff${WESTERN}`)],
    ["big-endian UTF-16 without a mark", bigEndian(WESTERN)],
    ["Windows-1252", encoded(WESTERN, "windows-1252")],
  ])("is read from %s without losing a letter, whole and in pieces", async (_, bytes) => {
    expect(tableText(bytes)).toBe(WESTERN);
    expect(await textInPieces(bytes)).toBe(WESTERN);
  });

  it.each([
    ["Cyrillic", encoded("имя,текст\nПривет,мир\n", "windows-1251")],
    ["Greek", encoded("όνομα\nΚαλημέρα\n", "windows-1253")],
    ["Polish", encoded("nazwa\nzażółć gęślą jaźń\n", "windows-1250")],
    ["Macintosh", encoded("name\nGrößenübersicht für\n", "macintosh")],
    ["Japanese", Uint8Array.of(0x6e, 0x0a, 0x83, 0x65, 0x83, 0x58, 0x83, 0x67)],
    ["Chinese", Uint8Array.of(0x6e, 0x0a, 0xc4, 0xe3, 0xba, 0xc3)],
  ])("is rejected for %s text in an older encoding instead of misread", async (_, bytes) => {
    const message = "is neither UTF-8, UTF-16 nor Windows-1252 text: save it as CSV UTF-8";
    expect(() => tableText(bytes)).toThrow(message);
    await expect(textInPieces(bytes)).rejects.toThrow(message);
  });

  it.each([
    ["an Excel workbook", Uint8Array.of(0x50, 0x4b, 0x03, 0x04, 0x14), "is an Excel or ZIP file: save it as CSV UTF-8"],
    ["a picture", Uint8Array.of(0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0, 0, 0, 1), "isn't text: save it as CSV UTF-8"],
  ])("is rejected for %s by name", async (_, bytes, message) => {
    expect(() => tableText(bytes)).toThrow(new TableProblem(message));
    await expect(textInPieces(bytes)).rejects.toThrow(new TableProblem(message));
  });
});

it.each([
  ["name;n\na,b;1\n", "semicolon"],
  ["name\tn\na,b\t1\n", "tab"],
  ['"a;b;c",n\n', "comma"],
  ["name\n", "comma"],
])("detects the separator of %j from its first line", (text, name) => {
  expect(separatorOf(text)).toBe(name);
});

it.each([
  ["https://a.test/1.png media-1", ["https://a.test/1.png", "media-1"]],
  ["media-1", ["media-1"]],
  ['["media-1", "media-2"]', ["media-1", "media-2"]],
])("reads a cell of files: %s", (cell, expected) => {
  expect(cellValue(cell, "files")).toEqual(expected);
});
