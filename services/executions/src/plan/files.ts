import {
  DomainError,
  findingInWords,
  type GraphIssue,
  isFileType,
  isMedia,
  isMediaId,
  isRecord,
  type JsonSchema,
  mediaProblem,
  type MediaValue,
  member,
  type PlanStep,
  type RunPlan,
  schemaPorts,
  stepAddresses,
  type MediaUrls,
} from "@nodeloom/kernel";
import { inMediaBatches, isPublicUrl } from "@nodeloom/platform";
import type { media as proto } from "@nodeloom/proto";
import { type InputFiles, MAX_DATA_URL_CHARS, type ProviderSettings } from "@nodeloom/providers";
import type { Media } from "../clients";
import type { CatalogModel } from "./model-catalog";
import { each, fileInputsOf } from "./planner/file-inputs";

/** Replaces ids of uploaded files with addresses in the inputs of calls. */

const MS = 1_000;

/** Returns a stored file as a value, with its size and duration if known. */
export const mediaValue = (
  stored: Pick<proto.StoredObject, "id" | "url" | "contentType" | "width" | "height" | "durationMs">,
): MediaValue => {
  const { id, url, contentType, width, height, durationMs } = stored;
  const size = width === undefined || height === undefined ? {} : { width, height };
  return { url, id, contentType, ...size, ...(durationMs === undefined ? {} : { duration: durationMs / MS }) };
};

/** Returns a user's uploads by id. Ids of other users are left out. */
export const files = async (
  media: Pick<Media, "getObjects">,
  ids: readonly string[],
  ownerId: string,
): Promise<Map<string, MediaValue>> => {
  const mediaIds = [...new Set(ids)].filter(isMediaId);
  const objects = await inMediaBatches(mediaIds, async (batch) => (await media.getObjects({ ids: batch, ownerId })).objects);
  return new Map(objects.map((object) => [object.id, mediaValue(object)]));
};

type Inputs = Readonly<Record<string, unknown>>;

/** An empty text isn't a file id. */
const valuesOf = (value: unknown): readonly unknown[] => each(value).filter((one) => one !== "");

/**
 * Replaces file ids with addresses in the inputs of a call, where planning couldn't know them. An empty text isn't a file.
 * @param authorFiles files of the template's author that this run can use, by id
 * @returns the inputs, or the problem of one input
 */
export const withFiles = async (
  media: Pick<Media, "getObjects">,
  schema: JsonSchema,
  inputs: Inputs,
  ownerId: string,
  authorFiles: Readonly<Record<string, MediaValue>> = {},
): Promise<{ inputs: Inputs } | { problem: string }> => {
  const fileInputs = schemaPorts(schema).flatMap(([name, { type }]) =>
    isFileType(type) && member(inputs, name) !== undefined ? [{ name, type, values: valuesOf(inputs[name]) }] : [],
  );
  const filesById = await files(
    media,
    fileInputs.flatMap(({ values }) => values.filter(isMediaId)),
    ownerId,
  );
  const resolved = new Map(Object.entries(inputs));
  for (const { name, type, values } of fileInputs) {
    if (values.length === 0 && !Array.isArray(inputs[name])) {
      resolved.delete(name);
      continue;
    }
    const fileValues = values.map((value) => (isMediaId(value) ? (filesById.get(value) ?? member(authorFiles, value) ?? null) : value));
    const missing = fileValues.indexOf(null);
    if (missing >= 0) return { problem: `${name}: you have no media file ${values[missing] as string}` };
    const problem = fileValues.map((value) => mediaProblem(type, value)).find((one) => one !== undefined);
    if (problem !== undefined) return { problem: `${name}: ${problem}` };
    const addresses = fileValues.map((value) => (isMedia(value) ? value.url : value));
    resolved.set(name, Array.isArray(inputs[name]) ? addresses : addresses[0]);
  }
  return { inputs: Object.fromEntries(resolved) };
};

/** Selects how files are passed to a provider, by its registry entry and the address of the file. */

/** Default for entries without this setting. */
const USUAL: InputFiles = { send: ["url", "data-url"] };
/** In base64, four characters encode three bytes. */
export const CHARS_PER_BYTE = 4 / 3;
const BYTES_PER_KB = 1_024;

/** True if the provider can read private addresses. */
export const isInOurNetwork = ({ hosted, baseUrl }: Pick<ProviderSettings, "hosted" | "baseUrl">): boolean =>
  hosted !== true && !isPublicUrl(baseUrl);

/** True if a provider can read an address, based on its text. */
export const isReadable = (settings: ProviderSettings, url: string): boolean => isInOurNetwork(settings) || isPublicUrl(url);

export const sendingOf = ({ files }: Pick<ProviderSettings, "files">, name: string): InputFiles =>
  (files && Object.hasOwn(files, name) ? files[name] : undefined) ?? USUAL;

/** Explains why a file can't be sent, and what to do. */
export const cannotSend = (name: string, { send, maxDataChars = MAX_DATA_URL_CHARS }: InputFiles): string => {
  const fits = send.some((way) => way === "data-url" || way === "base64");
  const most = Math.floor(maxDataChars / CHARS_PER_BYTE / BYTES_PER_KB);
  const smaller = fits ? `, or give a file of at most ${most} kB` : "";
  return `input ${name}: the provider can't get this file: set PUBLIC_BASE_URL to an https address that it can read${smaller}`;
};

/** True if a step creates files in the platform's storage. */
const makesFiles = (plan: RunPlan, { model }: PlanStep): boolean =>
  model !== undefined && isRecord(plan.models[model]) && plan.models[model].modality !== "text";

/** Yields the inputs of a step that have private addresses although the provider reads only public addresses. */
function* unsendable(plan: RunPlan, step: PlanStep, model: CatalogModel): Iterable<[string, InputFiles]> {
  const settings = JSON.parse(model.providerJson) as ProviderSettings;
  const byId = new Map(plan.steps.map((one) => [one.id, one]));
  for (const name of fileInputsOf(model.inputSchema)) {
    const sending = sendingOf(settings, name);
    if (sending.send.some((way) => way !== "url") || isInOurNetwork(settings)) continue;
    const inputAddresses = [...stepAddresses(step, model.inputSchema)].filter((address) => address.name === name);
    const sources = Object.hasOwn(step.sources, name) ? step.sources[name]! : [];
    const isMade = sources.some((source) => "node" in source && byId.has(source.node) && makesFiles(plan, byId.get(source.node)!));
    const ownIsRead = plan.storage === undefined || isPublicUrl(plan.storage);
    if (inputAddresses.some(({ url }) => !isPublicUrl(url)) || (isMade && !ownIsRead)) yield [name, sending];
  }
}

/** @throws DomainError WORKFLOW_INVALID if planning already knows that a file can't reach its provider */
export const checkSending = (plan: RunPlan, models: ReadonlyMap<string, CatalogModel>): void => {
  const issues = plan.steps.flatMap((step): GraphIssue[] => {
    const model = step.model === undefined ? undefined : models.get(step.model);
    if (!model) return [];
    return [...unsendable(plan, step, model)].map(([name, sending]) => ({
      nodeId: step.id,
      ...findingInWords("FILE_NOT_SENDABLE", `${model.internalName}: ${cannotSend(name, sending)}`, name),
    }));
  });
  if (issues.length === 0) return;
  const text = issues.map(({ message }) => message).join("; ");
  throw new DomainError("precondition", "WORKFLOW_INVALID", `the workflow can't run: ${text}`, { issues });
};

export type Grants = ReturnType<typeof createGrants>;

/**
 * A run reads the files that its graphs refer to, including graphs of other users. The run's account therefore gets grants to these files.
 */
export const createGrants = ({ media, urls }: { media: Media; urls: MediaUrls }) => {
  /** Finds the addresses of files in a text, and grants an account the files that the author can read. */
  const grantNamed = async (text: string, authorId: string, userId: string): Promise<void> => {
    if (authorId === userId) return;
    await inMediaBatches(urls.keysIn(text), async (keys) => {
      await media.grantObjects({ keys, fromOwnerId: authorId, ownerId: userId });
      return [];
    });
  };

  /** Returns an author's files by id after granting them to an account. */
  const authorsFiles = async (ids: readonly string[], authorId: string, userId: string): Promise<Map<string, MediaValue>> => {
    const authorFiles = await files(media, ids, authorId);
    await grantNamed(JSON.stringify([...authorFiles.values()]), authorId, userId);
    return authorFiles;
  };

  return { grantNamed, authorsFiles };
};

const KEY = /^[\w.-]+/;
/** Matches ids of stored files. An id belongs to an upload or a data URL, or starts with the id of the run that created the file. */
const ID = /"([0-9a-f]{8}[0-9a-f.-]{16,120})"/g;
/** Maximum number of file names stored for one run. */
const MOST = 2_000;

/**
 * Returns the keys of the stored files whose addresses a text contains.
 * @param own address prefix of stored files
 */
export const keysIn = (text: string, own: string): string[] => {
  const [, ...segments] = text.split(own);
  return [...new Set(segments.flatMap((rest) => KEY.exec(rest)?.[0] ?? []))];
};

/** Returns the keys and ids of the stored files that JSON texts refer to. */
export const filesNamedIn = (texts: readonly string[], own: string): string[] => {
  const names = texts.flatMap((text) => [...keysIn(text, own), ...[...text.matchAll(ID)].map(([, id]) => id!)]);
  return [...new Set(names)].slice(0, MOST);
};
