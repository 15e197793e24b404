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
} from "@nodeloom/kernel";
import { inMediaBatches, isPublicUrl } from "@nodeloom/platform";
import type { media as proto } from "@nodeloom/proto";
import { type InputFiles, MAX_DATA_URL_CHARS, type ProviderSettings } from "@nodeloom/providers";
import type { Media } from "../clients";
import type { CatalogModel } from "./model-catalog";
import { each, fileInputsOf } from "./planner/file-inputs";

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

/** Which ways lead a file to a provider, as far as its entry and the file's address tell. */

/** How files are sent that an entry says nothing of. */
const USUAL: InputFiles = { send: ["url", "data-url"] };
/** Of base64: three bytes are four characters. */
export const CHARS_PER_BYTE = 4 / 3;
const BYTES_PER_KB = 1_024;

/** Whether a provider reads addresses that are not public, too. */
export const isInOurNetwork = ({ hosted, baseUrl }: Pick<ProviderSettings, "hosted" | "baseUrl">): boolean =>
  hosted !== true && !isPublicUrl(baseUrl);

/** Whether a provider reads an address, as far as that tells. */
export const isReadable = (settings: ProviderSettings, url: string): boolean => isInOurNetwork(settings) || isPublicUrl(url);

/** How the files of an input are sent, by an entry. */
export const sendingOf = ({ files }: Pick<ProviderSettings, "files">, name: string): InputFiles =>
  (files && Object.hasOwn(files, name) ? files[name] : undefined) ?? USUAL;

/** Why a file can't be sent, and what to do about it. */
export const cannotSend = (name: string, { send, maxDataChars = MAX_DATA_URL_CHARS }: InputFiles): string => {
  const fits = send.some((way) => way === "data-url" || way === "base64");
  const most = Math.floor(maxDataChars / CHARS_PER_BYTE / BYTES_PER_KB);
  const smaller = fits ? `, or give a file of at most ${most} kB` : "";
  return `input ${name}: there is no way to send this file to the provider: set PUBLIC_BASE_URL to an https address that it can read${smaller}`;
};

/** Whether a step makes files: they are put into our storage. */
const makesFiles = (plan: RunPlan, { model }: PlanStep): boolean =>
  model !== undefined && isRecord(plan.models[model]) && plan.models[model].modality !== "text";

/** Inputs of a step to which nothing but a public address can be sent, and which are given another one. */
function* unsendable(plan: RunPlan, step: PlanStep, model: CatalogModel): Iterable<[string, InputFiles]> {
  const settings = JSON.parse(model.providerJson) as ProviderSettings;
  const byId = new Map(plan.steps.map((one) => [one.id, one]));
  for (const name of fileInputsOf(model.inputSchema)) {
    const sending = sendingOf(settings, name);
    if (sending.send.some((way) => way !== "url") || isInOurNetwork(settings)) continue;
    const named = [...stepAddresses(step, model.inputSchema)].filter((address) => address.name === name);
    const sources = Object.hasOwn(step.sources, name) ? step.sources[name]! : [];
    const isMade = sources.some((source) => "node" in source && byId.has(source.node) && makesFiles(plan, byId.get(source.node)!));
    const ownIsRead = plan.storage === undefined || isPublicUrl(plan.storage);
    if (named.some(({ url }) => !isPublicUrl(url)) || (isMade && !ownIsRead)) yield [name, sending];
  }
}

/** @throws DomainError WORKFLOW_INVALID where it is known already that a file can't reach its provider */
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
