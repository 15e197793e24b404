/** Reads the rows of a batch's file from pieces of its text: CSV with input names in the first line, or one JSON object per line. */
import { Readable } from "node:stream";
import { invalidInputs, invalidRequest, isRecord, LIMITS, shownName, type DomainError } from "@nodeloom/kernel";
import { cellValue, SEPARATORS, TableProblem, type CellType, type SeparatorName } from "@nodeloom/kernel/table-file";
import { CsvError, parse } from "csv-parse";
import type { ItemInput } from "../run/batch";

const KIB = 1024;
const MIB = KIB * KIB;
/** Maximum bytes of a row of CSV. */
const CSV_ROW_BYTES = 512 * KIB;
/** Matches the maximum depth of a request body. */
const MAX_DEPTH = 64;

export type Types = ReadonlyMap<string, CellType>;

export const invalidFile = (message: string): DomainError => invalidRequest([{ path: "mediaId", message }]);

const valueOf = (cell: string, row: number, column: string, types: Types): unknown => {
  try {
    return cellValue(cell, types.get(column));
  } catch (error) {
    if (!(error instanceof TableProblem)) throw error;
    throw invalidInputs([{ path: "mediaId", message: `row ${row}: ${shownName(column)} ${error.message}` }]);
  }
};

const invalidCsv = ({ code, message, lines }: CsvError): DomainError =>
  code === "CSV_MAX_RECORD_SIZE"
    ? invalidFile(`the row at line ${String(lines)} has more than ${CSV_ROW_BYTES / KIB} kB: check that its quotes are closed`)
    : invalidFile(`isn't valid CSV: ${message}`);

export interface CsvOptions {
  types: Types;
  separator: SeparatorName;
  /** Returns the names of the first line. @throws DomainError if they can't be used */
  columns: (names: string[]) => string[];
}

/** Reads CSV row by row. An empty cell omits the input. @throws DomainError INVALID_REQUEST, INVALID_INPUTS */
export async function* csvRows(texts: AsyncIterable<string>, { types, separator, columns }: CsvOptions): AsyncGenerator<ItemInput> {
  const parser = parse({ bom: true, columns, delimiter: SEPARATORS[separator], skip_empty_lines: true, max_record_size: CSV_ROW_BYTES });
  const source = Readable.from(texts, { objectMode: false });
  source.on("error", (error) => parser.destroy(error)).pipe(parser);
  let row = 0;
  try {
    for await (const record of parser as AsyncIterable<Record<string, string>>) {
      row += 1;
      const cells = Object.entries(record).filter(([, cell]) => cell !== "");
      const inputs = Object.fromEntries(cells.map(([name, cell]) => [name, valueOf(cell, row, name, types)]));
      yield { inputsJson: JSON.stringify(inputs), settingsJson: "" };
    }
  } catch (error) {
    throw error instanceof CsvError ? invalidCsv(error) : error;
  } finally {
    source.destroy();
    parser.destroy();
  }
}

const tooLong = (number: number): DomainError => invalidFile(`line ${number} has more than ${LIMITS.jsonBodyBytes / MIB} MB`);

/** Splits text at line breaks. @throws INVALID_REQUEST for a line that is longer than a request body can be */
async function* linesOf(texts: AsyncIterable<string>): AsyncGenerator<{ line: string; number: number }> {
  let parts: string[] = [];
  let [chars, number] = [0, 1];
  const add = (part: string): void => {
    chars += part.length;
    if (chars > LIMITS.jsonBodyBytes) throw tooLong(number);
    parts.push(part);
  };
  for await (const text of texts) {
    const [first = "", ...others] = text.split("\n");
    add(first);
    for (const next of others) {
      yield { line: parts.join("").trim(), number };
      [parts, chars] = [[], 0];
      number += 1;
      add(next);
    }
  }
  yield { line: parts.join("").trim(), number };
}

const isTooDeep = (value: unknown, remainingDepth = MAX_DEPTH): boolean =>
  typeof value === "object" &&
  value !== null &&
  (remainingDepth === 0 || Object.values(value).some((inner) => isTooDeep(inner, remainingDepth - 1)));

const lineItem = (line: string, number: number): ItemInput => {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {
    // Malformed JSON is treated like any other line that isn't an object.
  }
  if (!isRecord(value)) throw invalidFile(`line ${number} isn't a JSON object`);
  if (isTooDeep(value)) throw invalidFile(`line ${number} is nested more than ${MAX_DEPTH} levels deep`);
  return { inputsJson: line, settingsJson: "" };
};

/** Reads JSONL line by line. @throws DomainError INVALID_REQUEST */
export async function* jsonRows(texts: AsyncIterable<string>): AsyncGenerator<ItemInput> {
  for await (const { line, number } of linesOf(texts)) if (line !== "") yield lineItem(line, number);
}
