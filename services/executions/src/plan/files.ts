import { isFileType, isMedia, isMediaId, mediaProblem, member, schemaPorts, type JsonSchema, type MediaValue } from "@nodeloom/kernel";
import { inMediaBatches } from "@nodeloom/platform";
import type { media as proto } from "@nodeloom/proto";
import type { Media } from "../clients";

/** Files in the inputs of calls: uploads by id, and their addresses in place of ids. */

const MS = 1_000;

/** A stored file as it flows through a graph, with its size and its length where they are known. */
export const mediaValue = (stored: Pick<proto.StoredObject, "url" | "contentType" | "width" | "height" | "durationMs">): MediaValue => {
  const { url, contentType, width, height, durationMs } = stored;
  const size = width === undefined || height === undefined ? {} : { width, height };
  return { url, contentType, ...size, ...(durationMs === undefined ? {} : { duration: durationMs / MS }) };
};

/** A user's uploaded files by id; ids that are not the user's are left out. */
export const files = async (
  media: Pick<Media, "getObjects">,
  ids: readonly string[],
  ownerId: string,
): Promise<Map<string, MediaValue>> => {
  const asked = [...new Set(ids)].filter(isMediaId);
  const found = await inMediaBatches(asked, async (batch) => (await media.getObjects({ ids: batch, ownerId })).objects);
  return new Map(found.map((object) => [object.id, mediaValue(object)]));
};

type Inputs = Readonly<Record<string, unknown>>;

/** The values of an input that is a list, or one value. */
export const each = (value: unknown): readonly unknown[] => (Array.isArray(value) ? (value as unknown[]) : [value]);

/** The files that an input names: empty text is none. */
const named = (value: unknown): readonly unknown[] => each(value).filter((one) => one !== "");

/**
 * A call's inputs with the addresses of files in place of their ids: those that planning could not see. Empty text is
 * no file.
 * @param authorFiles files of the template's author that this run may use, by id
 * @returns the inputs, or what is wrong with one of them.
 */
export const withFiles = async (
  media: Pick<Media, "getObjects">,
  schema: JsonSchema,
  inputs: Inputs,
  ownerId: string,
  authorFiles: Readonly<Record<string, MediaValue>> = {},
): Promise<{ inputs: Inputs } | { problem: string }> => {
  const given = schemaPorts(schema).flatMap(([name, { type }]) =>
    isFileType(type) && member(inputs, name) !== undefined ? [{ name, type, values: named(inputs[name]) }] : [],
  );
  const found = await files(
    media,
    given.flatMap(({ values }) => values.filter(isMediaId)),
    ownerId,
  );
  const resolved = new Map(Object.entries(inputs));
  for (const { name, type, values } of given) {
    if (values.length === 0 && !Array.isArray(inputs[name])) {
      resolved.delete(name);
      continue;
    }
    const known = values.map((value) => (isMediaId(value) ? (found.get(value) ?? member(authorFiles, value) ?? null) : value));
    const missing = known.indexOf(null);
    if (missing >= 0) return { problem: `${name}: there is no media file ${values[missing] as string} of yours` };
    const problem = known.map((value) => mediaProblem(type, value)).find((one) => one !== undefined);
    if (problem !== undefined) return { problem: `${name}: ${problem}` };
    const addresses = known.map((value) => (isMedia(value) ? value.url : value));
    resolved.set(name, Array.isArray(inputs[name]) ? addresses : addresses[0]);
  }
  return { inputs: Object.fromEntries(resolved) };
};
