/** Reads batch items from a file: CSV with input names in the first line, or one JSON object per line. */
import { enteredText, objectBytes } from "@nodeloom/platform";
import { Readable } from "node:stream";
import {
  didYouMean,
  invalidInputs,
  invalidRequest,
  isRecord,
  LIMITS,
  shownName,
  takesFiles,
  USUAL_CAPS,
  type DomainError,
  type JsonSchema,
  type MediaUrls,
} from "@nodeloom/kernel";
import {
  cellValue,
  SEPARATORS,
  separatorOf,
  TableProblem,
  tableText,
  type CellType,
  type SeparatorName,
} from "@nodeloom/kernel/table-file";
import { CsvError, parse } from "csv-parse";
import type { Media, Workflows } from "../clients";
import type { ModelCatalog } from "../plan/model-catalog";
import { BATCH, type ItemInput } from "../run/batch";
import type { Runner } from "../run/runner";
import type { executions } from "@nodeloom/proto";

const READ_MS = 30_000;
/** Maximum characters of the header line and of each other line. */
const MAX_HEADER_CHARS = 64 * 1024;
const MAX_RECORD_BYTES = 512 * 1024;
/** Characters parsed at once. */
const PIECE_BYTES = 64 * 1024;
/** Matches the maximum depth of a request body. */
const MAX_DEPTH = 64;

const invalidFile = (message: string): DomainError => invalidRequest([{ path: "mediaId", message }]);
const foreignFile = (key: string): DomainError =>
  invalidFile(`names ${key}, a private file of another account, by an address that has expired`);
const tooMany = (most: number): DomainError => invalidFile(`the file has more than ${most} rows`);

const header = (names: string[]): string[] => {
  const trimmed = names.map((name) => name.trim());
  if (trimmed.length > BATCH.fileColumns) throw invalidFile(`the first line names more than ${BATCH.fileColumns} columns`);
  if (trimmed.includes("")) throw invalidFile("the first line has a column without a name");
  if (new Set(trimmed).size < trimmed.length) throw invalidFile("the first line names a column twice");
  return trimmed;
};

type Types = ReadonlyMap<string, CellType>;

/** @throws INVALID_INPUTS if a column isn't an input. The name may contain several columns with a different separator. */
const checkColumns = (names: readonly string[], types: Types, separator: SeparatorName): void => {
  const knownColumns = new Set([...types.keys()].map((name) => name.normalize()));
  const unknown = names.find((name) => !knownColumns.has(name.normalize()));
  if (unknown === undefined || knownColumns.size === 0) return;
  const message = `the column ${shownName(unknown)} is not an input${didYouMean(unknown, [...knownColumns]) || "."} The separator of this file is the ${separator}`;
  throw invalidInputs([{ path: "mediaId", message }]);
};

const valueOf = (cell: string, row: number, column: string, types: Types): unknown => {
  try {
    return cellValue(cell, types.get(column));
  } catch (error) {
    if (!(error instanceof TableProblem)) throw error;
    throw invalidInputs([{ path: "mediaId", message: `row ${row}: ${shownName(column)} ${error.message}` }]);
  }
};

function* piecesOf(text: string): Iterable<Buffer> {
  const bytes = Buffer.from(text);
  for (let from = 0; from < bytes.length; from += PIECE_BYTES) yield bytes.subarray(from, from + PIECE_BYTES);
}

/** Reads CSV line by line. An empty cell omits the input. */
const csvItems = async (text: string, types: Types, most: number): Promise<ItemInput[]> => {
  const items: ItemInput[] = [];
  const separator = separatorOf(text);
  const columns = (names: string[]): string[] => {
    const tableHeader = header(names);
    checkColumns(tableHeader, types, separator);
    return tableHeader;
  };
  const bounds = { skip_empty_lines: true, max_record_size: MAX_RECORD_BYTES };
  const parser = parse({ bom: true, columns, delimiter: SEPARATORS[separator], ...bounds });
  const source = Readable.from(piecesOf(text), { objectMode: false });
  source.on("error", (error) => parser.destroy(error)).pipe(parser);
  try {
    for await (const record of parser as AsyncIterable<Record<string, string>>) {
      if (items.length === most) throw tooMany(most);
      const cells = Object.entries(record).filter(([, cell]) => cell !== "");
      const inputs = Object.fromEntries(cells.map(([name, cell]) => [name, valueOf(cell, items.length + 1, name, types)]));
      items.push({ inputsJson: JSON.stringify(inputs), settingsJson: "" });
    }
    return items;
  } catch (error) {
    throw error instanceof CsvError ? invalidFile(`isn't valid CSV: ${error.message}`) : error;
  } finally {
    source.destroy();
    parser.destroy();
  }
};

const textOf = (bytes: Uint8Array): string => {
  try {
    return tableText(bytes);
  } catch (error) {
    throw error instanceof TableProblem ? invalidFile(error.message) : error;
  }
};

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

const jsonItems = (text: string, most: number): ItemInput[] => {
  const items: ItemInput[] = [];
  let number = 0;
  for (let from = 0; from < text.length;) {
    const end = text.indexOf("\n", from);
    const line = text.slice(from, end < 0 ? text.length : end).trim();
    from = end < 0 ? text.length : end + 1;
    number += 1;
    if (line === "") continue;
    if (items.length === most) throw tooMany(most);
    items.push(lineItem(line, number));
  }
  return items;
};

const ofField: Readonly<Record<string, CellType>> = { number: "number", boolean: "boolean", json: "json" };
const ofSchema: Readonly<Record<string, CellType>> = {
  number: "number",
  integer: "number",
  boolean: "boolean",
  object: "json",
  array: "json",
};

type TableRunner = Pick<Runner, "userId" | "maxBatchRows">;

export interface TableOptions {
  media: Pick<Media, "getObjects" | "readObject" | "admitUrls">;
  urls: MediaUrls;
  workflows: Pick<Workflows, "getSchema">;
  catalog: Pick<ModelCatalog, "get">;
}

export type ReadTable = ReturnType<typeof createReadTable>;

export const createReadTable = ({ media, workflows, catalog, urls }: TableOptions) => {
  const typesOf = async ({ target, version, alias }: executions.Target, userId: string): Promise<Map<string, CellType>> => {
    if (target?.$case === "workflowSlug") {
      const { schema } = await workflows.getSchema({ slug: target.value, userId, version, alias });
      return new Map((schema?.fields ?? []).map((field) => [field.name, takesFiles(field) ? "files" : (ofField[field.type] ?? "text")]));
    }
    const { inputSchemaJson } = await catalog.get(target?.value ?? "");
    const { properties } = JSON.parse(inputSchemaJson) as JsonSchema;
    const entries = isRecord(properties) ? Object.entries(properties) : [];
    return new Map(entries.map(([name, property]) => [name, (isRecord(property) && ofSchema[String(property.type)]) || "text"]));
  };

  /**
   * Reads items from a file of the runner. A file that starts with a brace is JSONL; any other file is CSV.
   * @throws DomainError INVALID_REQUEST if the file doesn't exist, is too large, or can't be read
   */
  return async (mediaId: string, target: executions.Target, runner: TableRunner): Promise<ItemInput[]> => {
    const { userId, maxBatchRows: most = USUAL_CAPS.batchRows } = runner;
    const { objects } = await media.getObjects({ ids: [mediaId], ownerId: userId });
    const object = objects[0];
    if (!object) throw invalidFile("isn't one of your files: upload it first");
    if (object.bytes > LIMITS.batchFileBytes) throw invalidFile(`the file has more than ${LIMITS.batchFileBytes} bytes`);
    const types = await typesOf(target, userId);
    const chunks: Uint8Array[] = [];
    for await (const chunk of objectBytes(media, object.key, READ_MS)) chunks.push(chunk);
    // Checks that the runner can read the addresses, and removes their signatures.
    const text = await enteredText({ urls, media }, textOf(Buffer.concat(chunks)), userId, foreignFile);
    const start = text.trimStart();
    if (start.startsWith("{")) return jsonItems(text, most);
    if (start.startsWith("[")) throw invalidFile("starts with a JSON list: send one JSON object per line (JSONL), or CSV");
    const headerEnd = text.indexOf("\n");
    if ((headerEnd < 0 ? text.length : headerEnd) > MAX_HEADER_CHARS) throw invalidFile("the first line is too long");
    return csvItems(text, types, most);
  };
};
