import type { MediaFile } from "@nodeloom/client";
import { fileOf, type OutputFile } from "../media/files-in";

/** Id of a created file: run, node, item (with alternative), index. */
const MADE = /^([0-9a-f-]{36})-\d+-\d+(?:\.\d+)?-\d+$/;

/** Files by their run, in the order of its nodes. */
export const filesByRun = (rows: readonly MediaFile[]): ReadonlyMap<string, readonly OutputFile[]> => {
  const filesByRunId = new Map<string, OutputFile[]>();
  for (const row of rows.toSorted((a, b) => a.id.localeCompare(b.id, "en", { numeric: true }))) {
    const [run, file] = [MADE.exec(row.id)?.[1], fileOf(row)];
    if (run !== undefined && file !== undefined) filesByRunId.set(run, [...(filesByRunId.get(run) ?? []), file]);
  }
  return filesByRunId;
};
