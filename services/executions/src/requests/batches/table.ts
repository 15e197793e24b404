/** Items of a batch from a file: CSV with the names of inputs in its first line, or a JSON object a line. */
import { Readable } from "node:stream";
import { invalidRequest, isRecord, LIMITS, type DomainError, type JsonSchema } from "@nodeloom/kernel";
import { CsvError, parse } from "csv-parse";
import type { Media, Workflows } from "../../clients";
import type { ModelCatalog } from "../../plan/model-catalog";
import { BATCH, type ItemInput } from "../../run/batch";
import type { executions } from "@nodeloom/proto";

const READ_MS = 30_000;
/** The first line of a CSV file, and any other. */
const MAX_HEADER_BYTES = 64 * 1024;
const MAX_RECORD_BYTES = 512 * 1024;
const LINE_BREAK = 0x0a;
/** As deep as the body of a request may be. */
const MAX_DEPTH = 64;

const invalidFile = (message: string): DomainError => invalidRequest([{ path: "mediaId", message }]);
const tooMany = (): DomainError => invalidFile(`the file has more than ${LIMITS.batchItems} rows`);

/** What a cell of a column becomes. */
type Typed = "text" | "number" | "boolean" | "json";

const TRUE: ReadonlySet<string> = new Set(["true", "yes", "1"]);
const FALSE: ReadonlySet<string> = new Set(["false", "no", "0"]);

/** The value of a cell. What does not fit its type stays text, and is refused with the other inputs. */
export const cellValue = (cell: string, type: Typed | undefined): unknown => {
  const text = cell.trim();
  if (type === "number") return text !== "" && Number.isFinite(Number(text)) ? Number(text) : cell;
  if (type === "boolean") {
    const word = text.toLowerCase();
    return TRUE.has(word) ? true : FALSE.has(word) ? false : cell;
  }
  if (type !== "json") return cell;
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return cell;
  }
};

const header = (names: string[]): string[] => {
  const trimmed = names.map((name) => name.trim());
  if (trimmed.length > BATCH.fileColumns) throw invalidFile(`the first line names more than ${BATCH.fileColumns} columns`);
  if (trimmed.includes("")) throw invalidFile("the first line has a column without a name");
  if (new Set(trimmed).size < trimmed.length) throw invalidFile("the first line names a column twice");
  return trimmed;
};

/** Reads CSV line by line. An empty cell is an input that is not given. */
const csvItems = async (bytes: AsyncIterable<Uint8Array>, types: ReadonlyMap<string, Typed>): Promise<ItemInput[]> => {
  const items: ItemInput[] = [];
  const parser = parse({ bom: true, columns: header, skip_empty_lines: true, max_record_size: MAX_RECORD_BYTES });
  const source = Readable.from(bytes, { objectMode: false });
  source.on("error", (error) => parser.destroy(error)).pipe(parser);
  try {
    for await (const record of parser as AsyncIterable<Record<string, string>>) {
      if (items.length === LIMITS.batchItems) throw tooMany();
      const given = Object.entries(record).filter(([, cell]) => cell !== "");
      const inputs = Object.fromEntries(given.map(([name, cell]) => [name, cellValue(cell, types.get(name))]));
      items.push({ inputsJson: JSON.stringify(inputs), settingsJson: "" });
    }
    return items;
  } catch (error) {
    throw error instanceof CsvError ? invalidFile(`is no CSV that can be read: ${error.message}`) : error;
  } finally {
    source.destroy();
    parser.destroy();
  }
};

/** Whether a JSON text is nested too deep to be worked with. */
const isTooDeep = (value: unknown, left = MAX_DEPTH): boolean =>
  typeof value === "object" && value !== null && (left === 0 || Object.values(value).some((inner) => isTooDeep(inner, left - 1)));

const lineItem = (line: string, number: number): ItemInput => {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {
    // What is no JSON is no object.
  }
  if (!isRecord(value)) throw invalidFile(`line ${number} is no JSON object`);
  if (isTooDeep(value)) throw invalidFile(`line ${number} is nested more than ${MAX_DEPTH} levels deep`);
  return { inputsJson: line, settingsJson: "" };
};

const jsonItems = (text: string): ItemInput[] => {
  const items: ItemInput[] = [];
  let number = 0;
  for (let from = 0; from < text.length;) {
    const end = text.indexOf("\n", from);
    const line = text.slice(from, end < 0 ? text.length : end).trim();
    from = end < 0 ? text.length : end + 1;
    number += 1;
    if (line === "") continue;
    if (items.length === LIMITS.batchItems) throw tooMany();
    items.push(lineItem(line, number));
  }
  return items;
};

const ofField: Readonly<Record<string, Typed>> = { number: "number", boolean: "boolean", json: "json" };
const ofSchema: Readonly<Record<string, Typed>> = {
  number: "number",
  integer: "number",
  boolean: "boolean",
  object: "json",
  array: "json",
};

export interface TableOptions {
  media: Pick<Media, "getObjects" | "readObject">;
  workflows: Pick<Workflows, "getSchema">;
  catalog: Pick<ModelCatalog, "get">;
}

export type ReadTable = ReturnType<typeof createReadTable>;

export const createReadTable = ({ media, workflows, catalog }: TableOptions) => {
  /** Types of inputs by their names. */
  const typesOf = async (target: executions.Target["target"], version: string, userId: string): Promise<Map<string, Typed>> => {
    if (target?.$case === "workflowSlug") {
      const { schema } = await workflows.getSchema({ slug: target.value, userId, version });
      return new Map((schema?.fields ?? []).map(({ name, type }) => [name, ofField[type] ?? "text"]));
    }
    const { inputSchemaJson } = await catalog.get(target?.value ?? "");
    const { properties } = JSON.parse(inputSchemaJson) as JsonSchema;
    const entries = isRecord(properties) ? Object.entries(properties) : [];
    return new Map(entries.map(([name, property]) => [name, (isRecord(property) && ofSchema[String(property.type)]) || "text"]));
  };

  async function* bytesOf(key: string): AsyncIterable<Uint8Array> {
    for await (const { part } of media.readObject({ key }, { deadlineMs: READ_MS })) if (part?.$case === "chunk") yield part.value;
  }

  /**
   * Items from a file of the runner's. It is JSONL when it begins with a brace, else CSV.
   * @throws DomainError INVALID_REQUEST: there is no such file, it is too large, or can't be read
   */
  return async (mediaId: string, { target, version }: executions.Target, userId: string): Promise<ItemInput[]> => {
    const { objects } = await media.getObjects({ ids: [mediaId], ownerId: userId });
    const object = objects[0];
    if (!object) throw invalidFile("is not one of your files");
    if (object.bytes > LIMITS.batchFileBytes) throw invalidFile(`the file has more than ${LIMITS.batchFileBytes} bytes`);
    const types = await typesOf(target, version, userId);
    const chunks: Uint8Array[] = [];
    for await (const chunk of bytesOf(object.key)) chunks.push(chunk);
    const start = new TextDecoder().decode(chunks[0]?.subarray(0, 100)).trimStart();
    const bytes = Buffer.concat(chunks);
    if (start.startsWith("{")) return jsonItems(new TextDecoder().decode(bytes));
    const headerEnd = bytes.indexOf(LINE_BREAK);
    if ((headerEnd < 0 ? bytes.length : headerEnd) > MAX_HEADER_BYTES) throw invalidFile("the first line is too long");
    return csvItems(Readable.from(chunks) as AsyncIterable<Uint8Array>, types);
  };
};
