import type { MediaFile } from "@nodeloom/client";
import { familyOfUrl, safeUrl } from "../media/url";
import { familyOfType, type OutputFile } from "../media/files-in";

/** A file that a call made: its run, node, item (and model in its place), number. */
const MADE = /^([0-9a-f-]{36})-\d+-\d+(?:\.\d+)?-\d+$/;

/** Files by the run that made them, each run's in the order of its nodes. */
export const filesByRun = (rows: readonly MediaFile[]): ReadonlyMap<string, readonly OutputFile[]> => {
  const found = new Map<string, OutputFile[]>();
  for (const { id, url: address, contentType } of rows.toSorted((a, b) => a.id.localeCompare(b.id, "en", { numeric: true }))) {
    const [run, url] = [MADE.exec(id)?.[1], safeUrl(address)];
    if (run === undefined || url === undefined) continue;
    found.set(run, [...(found.get(run) ?? []), { url, family: familyOfType(contentType) ?? familyOfUrl(url) }]);
  }
  return found;
};
