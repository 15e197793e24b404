/** Replaces the value under review with the value from the decision. */
import {
  invalidRequest,
  isMedia,
  isMediaId,
  isOfFiles,
  isRecord,
  LIMITS,
  replacementIssues,
  shownName,
  valueBytes,
  type MediaValue,
  type ValueType,
} from "@nodeloom/kernel";
import { parseExact } from "@nodeloom/kernel/json-text";
import type { Media } from "../clients";
import { files, mediaValue } from "../plan/files";

export interface ChangedValueOptions {
  media: Pick<Media, "getObjects" | "getObjectsByKey">;
  /** Address prefix of the platform's own storage. */
  own: string;
}

const problem = (message: string): Error => invalidRequest([{ path: "value", message }]);

const referenceOf = (value: unknown): string => {
  const reference = isRecord(value) ? value.url : value;
  if (typeof reference === "string") return reference;
  throw problem("must name a file: by its media id, or as {url} by its address in the storage");
};

export const createChangedValue = ({ media, own }: ChangedValueOptions) => {
  /** Looks up the named files in storage. Fails if one is missing. */
  const stored = async (references: readonly string[], userId: string): Promise<MediaValue[]> => {
    const keys = references.filter((reference) => reference.startsWith(own)).map((reference) => reference.slice(own.length));
    const byId = await files(media, references.filter(isMediaId), userId);
    const objects = keys.length === 0 ? [] : (await media.getObjectsByKey({ keys })).objects;
    const byAddress = new Map(objects.map((object) => [object.url, mediaValue(object)]));
    return references.map((reference) => {
      const file = byId.get(reference) ?? byAddress.get(reference);
      if (!file) throw problem(`you have no media file ${shownName(reference)}: upload it first`);
      return file;
    });
  };

  /**
   * Reads a replacement of the given type. References to files become the stored files.
   * @throws INVALID_REQUEST if the value has another type or is too large
   */
  return async (shownType: ValueType, valueJson: string, userId: string): Promise<unknown> => {
    const newValue = parseExact(valueJson);
    const items = Array.isArray(newValue) ? (newValue as unknown[]) : [newValue];
    const most = Math.max(shownType.bytes, LIMITS.changedValueBytes);
    if (valueBytes(newValue, most) > most) throw problem(`must have at most ${most} bytes as JSON`);
    const isFile = (item: unknown): boolean => isOfFiles(shownType) || isMedia(item);
    const references = items.filter(isFile).map(referenceOf);
    const filesByReference = new Map((await stored(references, userId)).map((file, index) => [references[index]!, file]));
    const replaced = items.map((item) => (isFile(item) ? filesByReference.get(referenceOf(item)) : item));
    const value = Array.isArray(newValue) ? replaced : replaced[0];
    const issues = replacementIssues(shownType, value);
    if (issues.length > 0) throw invalidRequest(issues);
    return value;
  };
};
