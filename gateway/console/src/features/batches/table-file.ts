import type { SchemaField } from "@nodeloom/client";
import { CAPS } from "@nodeloom/kernel/caps";
import { LIMITS } from "@nodeloom/kernel/limits";
import { cellValue, SEPARATORS, separatorOf, TableProblem, tableText, type CellType } from "@nodeloom/kernel/table-file";
import { CsvError, parse } from "csv-parse/browser/esm/sync";
import { TABLE_FILE } from "../../messages/batches";

/** A file of rows that are mapped to inputs. */

const MIB = 1024 * 1024;

export interface TableFile {
  name: string;
  columns: readonly string[];
  rows: readonly Readonly<Record<string, string>>[];
}

/** Column of each field. A field without a column takes its default. */
export type Mapping = Readonly<Record<string, string>>;

/** Reads a CSV file. Its rows are sent in a JSON body, so a larger file can't be sent. The API rejects more rows than the tier allows. @throws Error with the problem */
export const readTable = async (file: File): Promise<TableFile> => {
  if (file.size > LIMITS.jsonBodyBytes) throw new Error(TABLE_FILE.tooLarge(LIMITS.jsonBodyBytes / MIB));
  try {
    const text = tableText(new Uint8Array(await file.arrayBuffer()));
    const rows = parse<Record<string, string>>(text, {
      bom: true,
      columns: true,
      delimiter: SEPARATORS[separatorOf(text)],
      skip_empty_lines: true,
      to: CAPS.batchRows.ceiling + 1,
    });
    if (rows.length === 0) throw new Error(TABLE_FILE.noRows);
    if (rows.length > CAPS.batchRows.ceiling) throw new Error(TABLE_FILE.tooManyRows(CAPS.batchRows.ceiling));
    return { name: file.name, columns: Object.keys(rows[0]!), rows };
  } catch (error) {
    if (error instanceof TableProblem) throw new Error(TABLE_FILE.problem(error.message));
    throw error instanceof CsvError ? new Error(TABLE_FILE.notCsv(error.message)) : error;
  }
};

const plain = (name: string): string => name.toLowerCase().replaceAll(/[^\p{L}\p{N}]/gu, "");

/** Maps fields to columns of the same name. */
export const matchColumns = (fields: readonly SchemaField[], columns: readonly string[]): Mapping => {
  const byName = new Map(columns.map((column) => [plain(column), column]));
  const mapping = fields.flatMap(({ name, label }): [string, string][] => {
    const column = byName.get(plain(name)) ?? byName.get(plain(label));
    return column === undefined ? [] : [[name, column]];
  });
  return Object.fromEntries(mapping);
};

/** Types of parsed cells. Malformed cells stay text, and the service reports them. */
const READ: ReadonlySet<string> = new Set<CellType>(["number", "boolean", "json"]);

/** @throws TableProblem for a cell with malformed JSON */
const valueOf = (cell: string, row: number, { name, type, multiple }: SchemaField): unknown => {
  try {
    if (multiple === true) return cellValue(cell, "files");
    return READ.has(type) ? cellValue(cell, type as CellType) : cell;
  } catch (error) {
    throw error instanceof TableProblem ? new TableProblem(TABLE_FILE.row(row, name, error.message)) : error;
  }
};

/** Inputs of all rows. An empty cell omits the input. @throws TableProblem for malformed JSON */
export const inputsOf = ({ rows }: TableFile, fields: readonly SchemaField[], mapping: Mapping): Record<string, unknown>[] =>
  rows.map((row, index) =>
    Object.fromEntries(
      fields.flatMap((field): [string, unknown][] => {
        const column = mapping[field.name];
        const cell = column === undefined ? "" : (row[column] ?? "");
        return cell === "" ? [] : [[field.name, valueOf(cell, index + 1, field)]];
      }),
    ),
  );
