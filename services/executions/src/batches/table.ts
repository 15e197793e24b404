/** Reads batch items from a file, without keeping the file in memory. */
import { enteredText, objectBytes } from "@nodeloom/platform";
import {
  didYouMean,
  invalidInputs,
  isRecord,
  LIMITS,
  shownName,
  takesFiles,
  unavailable,
  USUAL_CAPS,
  type DomainError,
  type JsonSchema,
  type MediaUrls,
} from "@nodeloom/kernel";
import {
  decodedPieces,
  separatorOf,
  tableEncoding,
  TableProblem,
  type CellType,
  type SeparatorName,
  type TableEncoding,
} from "@nodeloom/kernel/table-file";
import type { Media, Workflows } from "../clients";
import type { ModelCatalog } from "../plan/model-catalog";
import { BATCH, type ItemInput } from "../run/batch";
import type { Runner } from "../run/runner";
import type { executions, media as mediaProto } from "@nodeloom/proto";
import { itemPages, type Items } from "./item";
import { csvRows, invalidFile, jsonRows, type Types } from "./table-rows";

/** Deadline of one reading. Pricing or writing its rows takes most of that time. */
const READ_MS = 120_000;
/** Maximum characters of the header line. */
const MAX_HEADER_CHARS = 64 * 1024;
/** First bytes of a file, which contain the header line in any encoding. */
const START_BYTES = 4 * MAX_HEADER_CHARS;
const MIB = 1024 * 1024;

const foreignFile = (key: string): DomainError =>
  invalidFile(`names ${key}, a private file of another account, by an address that has expired`);

const header = (names: string[]): string[] => {
  const trimmed = names.map((name) => name.trim());
  if (trimmed.length > BATCH.fileColumns) throw invalidFile(`the first line names more than ${BATCH.fileColumns} columns`);
  if (trimmed.includes("")) throw invalidFile("the first line has a column without a name");
  if (new Set(trimmed).size < trimmed.length) throw invalidFile("the first line names a column twice");
  return trimmed;
};

/** @throws INVALID_INPUTS if a column isn't an input. The name may contain several columns with a different separator. */
const checkColumns = (names: readonly string[], types: Types, separator: SeparatorName): void => {
  const knownColumns = new Set([...types.keys()].map((name) => name.normalize()));
  const unknown = names.find((name) => !knownColumns.has(name.normalize()));
  if (unknown === undefined || knownColumns.size === 0) return;
  const message = `the column ${shownName(unknown)} is not an input${didYouMean(unknown, [...knownColumns]) || "."} The separator of this file is the ${separator}`;
  throw invalidInputs([{ path: "mediaId", message }]);
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

type StoredFile = Pick<mediaProto.StoredObject, "key" | "bytes">;
type RowReader = (texts: AsyncIterable<string>) => AsyncIterable<ItemInput>;

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

  const bytesOf = (key: string): AsyncIterable<Uint8Array> => objectBytes(media, key, READ_MS);

  const startOf = async (key: string): Promise<Buffer> => {
    const chunks: Uint8Array[] = [];
    let length = 0;
    for await (const chunk of bytesOf(key)) {
      chunks.push(chunk);
      length += chunk.length;
      if (length >= START_BYTES) break;
    }
    return Buffer.concat(chunks);
  };

  /** Reads the whole file once. @throws INVALID_REQUEST if it isn't text; SERVICE_UNAVAILABLE if its end is missing */
  const encodingOf = async (start: Uint8Array, { key, bytes }: StoredFile): Promise<TableEncoding> => {
    async function* wholeFile(): AsyncIterable<Uint8Array> {
      let length = 0;
      for await (const chunk of bytesOf(key)) {
        length += chunk.length;
        yield chunk;
      }
      if (length < bytes) throw unavailable("the file couldn't be read to its end: retry", 1);
    }
    try {
      return await tableEncoding(start, wholeFile);
    } catch (error) {
      throw error instanceof TableProblem ? invalidFile(error.message) : error;
    }
  };

  /** Returns a way to read rows from text. @throws INVALID_REQUEST */
  const readerOf = async (start: string, target: executions.Target, userId: string): Promise<RowReader> => {
    const trimmed = start.trimStart();
    if (trimmed.startsWith("{")) return jsonRows;
    if (trimmed.startsWith("[")) throw invalidFile("starts with a JSON list: send one JSON object per line (JSONL), or CSV");
    const headerEnd = start.indexOf("\n");
    if ((headerEnd < 0 ? start.length : headerEnd) > MAX_HEADER_CHARS) throw invalidFile("the first line is too long");
    const types = await typesOf(target, userId);
    const separator = separatorOf(start);
    const columns = (names: string[]): string[] => {
      const tableHeader = header(names);
      checkColumns(tableHeader, types, separator);
      return tableHeader;
    };
    return (texts) => csvRows(texts, { types, separator, columns });
  };

  /** Checks that the runner can read the addresses of files in the items, and removes their signatures. */
  const entered = async (page: readonly ItemInput[], userId: string): Promise<ItemInput[]> => {
    // The JSON of an item has no line breaks.
    const lines = page.map(({ inputsJson }) => inputsJson).join("\n");
    const texts = (await enteredText({ urls, media }, lines, userId, foreignFile)).split("\n");
    return page.map((item, index) => ({ ...item, inputsJson: texts[index]! }));
  };

  /**
   * Reads items from a file of the runner. A file that starts with a brace is JSONL; any other file is CSV. Each iteration reads the file
   * from its beginning, a few rows at a time.
   * @throws DomainError INVALID_REQUEST if the file doesn't exist, is too large, or isn't text; during the iteration for a row that can't
   *   be read, for too many rows, and for none
   */
  return async (mediaId: string, target: executions.Target, runner: TableRunner): Promise<Items> => {
    const { userId, maxBatchRows: most = USUAL_CAPS.batchRows } = runner;
    const { objects } = await media.getObjects({ ids: [mediaId], ownerId: userId });
    const object = objects[0];
    if (!object) throw invalidFile("isn't one of your files: upload it first");
    if (object.bytes > LIMITS.batchFileBytes) throw invalidFile(`the file has more than ${LIMITS.batchFileBytes / MIB} MB`);
    const start = await startOf(object.key);
    const encoding = await encodingOf(start, object);
    const readRows = await readerOf(new TextDecoder(encoding).decode(start, { stream: true }), target, userId);
    return {
      async *[Symbol.asyncIterator]() {
        let count = 0;
        for await (const page of itemPages(readRows(decodedPieces(bytesOf(object.key), encoding)))) {
          count += page.length;
          if (count > most) throw invalidFile(`the file has more than ${most} rows`);
          yield* await entered(page, userId);
        }
        if (count === 0) throw invalidFile("must have at least one item");
      },
    };
  };
};
