import type { SchemaField } from "@nodeloom/client";
import { LIMITS } from "@nodeloom/kernel/limits";
import { CsvError, parse } from "csv-parse/browser/esm/sync";

/** A file of rows, and the inputs that its columns become. */

export interface TableFile {
  name: string;
  columns: readonly string[];
  rows: readonly Readonly<Record<string, string>>[];
}

/** The column that each field takes its values from; without one its default holds. */
export type Mapping = Readonly<Record<string, string>>;

/** Reads a CSV file. @throws Error that says what is wrong with it */
export const readTable = async (file: File): Promise<TableFile> => {
  if (file.size > LIMITS.batchFileBytes) throw new Error("The file has more than 10 MB.");
  try {
    const rows = parse<Record<string, string>>(await file.text(), {
      bom: true,
      columns: true,
      skip_empty_lines: true,
      to: LIMITS.batchItems + 1,
    });
    if (rows.length === 0) throw new Error("The file has no rows below its first line.");
    if (rows.length > LIMITS.batchItems) throw new Error(`The file has more than ${LIMITS.batchItems} rows.`);
    return { name: file.name, columns: Object.keys(rows[0]!), rows };
  } catch (error) {
    throw error instanceof CsvError ? new Error(`This is no CSV that can be read: ${error.message}`) : error;
  }
};

const plain = (name: string): string => name.toLowerCase().replaceAll(/[^\p{L}\p{N}]/gu, "");

/** Fields with the columns that are called as they are. */
export const matchColumns = (fields: readonly SchemaField[], columns: readonly string[]): Mapping => {
  const byName = new Map(columns.map((column) => [plain(column), column]));
  const found = fields.flatMap(({ name, label }): [string, string][] => {
    const column = byName.get(plain(name)) ?? byName.get(plain(label));
    return column === undefined ? [] : [[name, column]];
  });
  return Object.fromEntries(found);
};

const BOOLEANS: Readonly<Record<string, boolean>> = { true: true, yes: true, "1": true, false: false, no: false, "0": false };

const parsed = (cell: string): unknown => {
  try {
    return JSON.parse(cell) as unknown;
  } catch {
    return cell;
  }
};

/** How cells of a type are read. What does not fit stays text: the service says what is wrong with it. */
const READ: Readonly<Record<string, (cell: string) => unknown>> = {
  number: (cell) => (cell.trim() !== "" && Number.isFinite(Number(cell)) ? Number(cell) : cell),
  boolean: (cell) => BOOLEANS[cell.trim().toLowerCase()] ?? cell,
  json: parsed,
};
const valueOf = (cell: string, { type }: SchemaField): unknown => (Object.hasOwn(READ, type) ? READ[type]!(cell) : cell);

/** The inputs of all rows. An empty cell is an input that is not given. */
export const inputsOf = ({ rows }: TableFile, fields: readonly SchemaField[], mapping: Mapping): Record<string, unknown>[] =>
  rows.map((row) =>
    Object.fromEntries(
      fields.flatMap((field): [string, unknown][] => {
        const column = mapping[field.name];
        const cell = column === undefined ? "" : (row[column] ?? "");
        return cell === "" ? [] : [[field.name, valueOf(cell, field)]];
      }),
    ),
  );
