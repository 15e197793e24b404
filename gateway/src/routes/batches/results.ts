/** Results of a batch as a file, streamed row by row. */
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { isRecord, member, toCredits } from "@nodeloom/kernel";
import type { batches } from "@nodeloom/proto";
import { stringify } from "csv-stringify";
import type { Response } from "express";
import { toJson } from "../../http/json";
import { rowView } from "./view";

export const FORMATS = ["jsonl", "csv"] as const;
export type Format = (typeof FORMATS)[number];

const TYPES: Readonly<Record<Format, string>> = { jsonl: "application/x-ndjson; charset=utf-8", csv: "text/csv; charset=utf-8" };
/** Maximum columns for inputs and for members of results. */
const MAX_COLUMNS = 200;

/** Each call reads all rows from the first. */
export type ReadRows = () => AsyncIterable<batches.BatchRow>;

async function* lines(rows: AsyncIterable<batches.BatchRow>): AsyncGenerator<string> {
  for await (const row of rows) yield `${toJson(rowView(row))}\n`;
}

const objectOf = (json: string): Record<string, unknown> => {
  const value: unknown = json === "" ? {} : JSON.parse(json);
  return isRecord(value) ? value : {};
};

/** A value as a cell; files become addresses. */
export const cellOf = (value: unknown): string => {
  if (value === undefined || value === null) return "";
  if (typeof value === "string") return value;
  if (isRecord(value) && typeof value.url === "string") return value.url;
  const isFiles = Array.isArray(value) && value.length > 0 && value.every((one) => isRecord(one) && typeof one.url === "string");
  if (isFiles) return value.map(cellOf).join(" ");
  return JSON.stringify(value);
};

/** Ids of the files in a value; empty for other values. */
const idsOf = (value: unknown): string[] =>
  [value].flat().flatMap((one) => (isRecord(one) && typeof one.url === "string" && typeof one.id === "string" ? [one.id] : []));

interface Columns {
  inputs: string[];
  results: string[];
  /** Results that are files. A column of the files' ids follows each of them. */
  files: Set<string>;
}

/** Columns of all rows; this reads all rows once. */
const columnsOf = async (rows: AsyncIterable<batches.BatchRow>): Promise<Columns> => {
  const [inputs, results, files] = [new Set<string>(), new Set<string>(), new Set<string>()];
  const add = (to: Set<string>, json: string): void => {
    for (const name of Object.keys(objectOf(json))) if (to.size < MAX_COLUMNS) to.add(name);
  };
  for await (const { inputsJson, resultJson } of rows) {
    add(inputs, inputsJson);
    add(results, resultJson);
    for (const [name, value] of Object.entries(objectOf(resultJson))) if (results.has(name) && idsOf(value).length > 0) files.add(name);
  }
  return { inputs: [...inputs], results: [...results], files };
};

async function* records(rows: AsyncIterable<batches.BatchRow>, { inputs, results, files }: Columns): AsyncGenerator<string[]> {
  yield [
    "index",
    "status",
    "executionId",
    "creditsCost",
    "error",
    ...inputs.map((name) => `inputs.${name}`),
    ...results.flatMap((name) => [`result.${name}`, ...(files.has(name) ? [`result.${name}.id`] : [])]),
  ];
  for await (const { index, status, executionId, millicredits, errorMessage, inputsJson, resultJson } of rows) {
    const [inputMembers, resultMembers] = [objectOf(inputsJson), objectOf(resultJson)];
    yield [
      ...[String(index), status, executionId, String(toCredits(millicredits)), errorMessage],
      ...inputs.map((name) => cellOf(member(inputMembers, name))),
      ...results.flatMap((name) => {
        const value = member(resultMembers, name);
        return [cellOf(value), ...(files.has(name) ? [idsOf(value).join(" ")] : [])];
      }),
    ];
  }
}

/** Rows whose addresses are signed together. */
const SIGNED_AT_ONCE = 100;

/**
 * Yields rows with signed addresses.
 * @param leave signs a text; it caches the addresses that it has signed
 */
export async function* signedRows(
  rows: AsyncIterable<batches.BatchRow>,
  leave: (text: string) => Promise<string>,
): AsyncGenerator<batches.BatchRow> {
  let waiting: batches.BatchRow[] = [];
  async function* signed(): AsyncGenerator<batches.BatchRow> {
    await leave(waiting.map(({ inputsJson, resultJson }) => `${inputsJson}\n${resultJson}`).join("\n"));
    for (const row of waiting) yield { ...row, inputsJson: await leave(row.inputsJson), resultJson: await leave(row.resultJson) };
    waiting = [];
  }
  for await (const row of rows) {
    waiting.push(row);
    if (waiting.length >= SIGNED_AT_ONCE) yield* signed();
  }
  yield* signed();
}

/** Writes results as fast as the client reads. If the source fails, the connection is closed, so that no partial file looks complete. */
export const streamResults = async (response: Response, batchId: string, format: Format, readRows: ReadRows): Promise<void> => {
  const columns = format === "csv" ? await columnsOf(readRows()) : undefined;
  response.status(200).set({ "Content-Type": TYPES[format], "Content-Disposition": `attachment; filename="batch-${batchId}.${format}"` });
  // Spreadsheets would treat a cell that starts with = as a formula.
  if (columns) await pipeline(Readable.from(records(readRows(), columns)), stringify({ escape_formulas: true }), response);
  else await pipeline(Readable.from(lines(readRows())), response);
};
