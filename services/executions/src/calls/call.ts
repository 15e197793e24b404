import {
  actualMicroUsd,
  DomainError,
  inputAddresses,
  LIMITS,
  pricedInputs,
  readAnswer,
  textBytes,
  type MediaValue,
} from "@nodeloom/kernel";
import type { AddressRules, Slots } from "@nodeloom/platform";
import type { Media } from "../clients";
import { media as mediaProto } from "@nodeloom/proto";
import type { ModelCall } from "../run/calls";
import type { CallContext, CallResult } from "../run/types";
import { TIMING } from "../run/timing";
import { mediaValue, withFiles } from "../plan/files";
import type { CatalogModel, ModelCatalog } from "../plan/model-catalog";
import { type ProviderOutput, pointer, type Provider, ProviderError } from "@nodeloom/providers";
import { final, inputFailed, MAY_TRY_ANOTHER, providerFailed, QUOTES_ADDRESS } from "./failures";
import type { Gate } from "./gates";
import type { SendFiles, SentInputs } from "./input-files";
import type { OwnFiles, Sign } from "./own-files";
import { makingOf, ownerOf } from "./making";
import { fingerprintOfModel } from "../reuse/fingerprints";
import type { Submissions } from "./submissions";

/** Limits of one process over all kinds of calls: provider files that it stores concurrently, and files that can wait. */
export const DOWNLOADS = { concurrency: 32, queueLimit: 10_000 };

export interface CallOptions {
  catalog: ModelCatalog;
  provider: (model: CatalogModel) => Provider;
  /** Circuit breaker and concurrency limit of a model's provider. */
  gate: (model: CatalogModel) => Gate;
  media: Media;
  /** Storage for files of calls, if different from `media`. */
  storage?: Pick<Media, "ingest" | "upload" | "getObjects"> | undefined;
  /** Limits how many files are stored concurrently. */
  downloads: Slots;
  /** Rules for addresses that users pass to providers. */
  addresses?: Pick<AddressRules, "resolvedProblem">;
  submissions: Submissions;
  /** Address prefix of the platform's own storage. */
  own: string;
  /** Converts the files of calls to the form that their provider takes. */
  sendFiles?: SendFiles;
  ownFiles?: OwnFiles;
}

/** Returns the model of a call and its provider. @throws DomainError if the provider's type has changed since planning */
export const target = async <Type extends Provider["type"]>(
  { catalog, provider }: Pick<CallOptions, "catalog" | "provider">,
  call: ModelCall,
  type: Type,
): Promise<{ model: CatalogModel; provider: Extract<Provider, { type: Type }> }> => {
  const model = await catalog.getAny(call.model);
  const modelProvider = provider(model);
  if (modelProvider.type !== type) throw final("EXECUTION_FAILED", `${call.model} no longer supports calls of the type ${type}`);
  return { model, provider: modelProvider as Extract<Provider, { type: Type }> };
};

/** Returns the id of a call's file. The id is deterministic, so a repeated attempt stores the same file. */
export const mediaId = ({ executionId, nodeIndex, item, alternative }: CallContext, index: number): string =>
  `${executionId}-${nodeIndex}-${item}${alternative?.place ? `.${alternative.place}` : ""}-${index}`;

export const placementOf = (call: ModelCall, model: CatalogModel, index: number) => ({
  id: mediaId(call, index),
  ownerId: ownerOf(call),
  accept: [model.modality],
  making: makingOf(call, model),
  sourceOrigin: mediaProto.SourceOrigin.SOURCE_ORIGIN_PROVIDER,
});

/** Stores a file in turn with other users. @throws DomainError `problem` if storage rejects the file; NoSlot if the queue is full */
export const storeInTurn = async (
  downloads: Slots,
  storeFile: () => Promise<{ object?: mediaProto.StoredObject | undefined }>,
  { userId: key, signal, problem }: { userId: string; signal?: AbortSignal | undefined; problem: string },
): Promise<MediaValue> => {
  const { object } = await downloads.use(storeFile, { key, signal, maxWaitMs: TIMING.run }).catch((error: unknown) => {
    if (!(error instanceof DomainError)) throw error;
    throw new DomainError(error.kind, error.reason, error.message, { ...error.metadata, ...QUOTES_ADDRESS });
  });
  if (!object) throw final("EXECUTION_FAILED", problem);
  return mediaValue(object);
};

/** Error message if a model's output can't be stored. */
export const notStored = ({ model }: ModelCall): string => `${model}: its output could not be stored`;

/** @throws DomainError PROVIDER_RESPONSE_INCOMPLETE */
export const withoutOutput = ({ model }: ModelCall): never => {
  throw final("PROVIDER_RESPONSE_INCOMPLETE", `${model} finished without the expected output`, MAY_TRY_ANOTHER);
};

/** Returns a model's text, and the JSON in it if it matches the schema of the call. */
const textResult = (call: ModelCall, { text, json }: ProviderOutput): Pick<CallResult, "text" | "json" | "problems"> => {
  if (text === null) return withoutOutput(call);
  const jsonText = json && JSON.stringify(json.value);
  const largest = Math.max(textBytes(text), jsonText === undefined ? 0 : textBytes(jsonText));
  if (largest > LIMITS.textValueBytes) throw providerFailed(`${call.model}: the answer is longer than ${LIMITS.textValueBytes} bytes`);
  if (!call.schema) return { text, ...(json ? { json } : {}) };
  const answer = readAnswer(jsonText ?? text, call.schema);
  return { text, ...("value" in answer ? { json: answer } : { problems: answer.problems }) };
};

/**
 * Returns the priced result of a call.
 * @param files the stored files
 * @throws DomainError if the text is missing or too long
 */
export const madeResult = (
  call: ModelCall,
  { inputSchema, modality }: CatalogModel,
  providerResult: ProviderOutput,
  { files, requestId }: { files: MediaValue[]; requestId: string | null },
): CallResult => {
  const textPart = modality === "text" ? textResult(call, providerResult) : { text: null };
  const answer = (place: string): unknown => pointer(providerResult.answer, place);
  const costMicroUsd = actualMicroUsd(call.price, inputSchema, call.inputs, {
    outputs: Math.max(files.length, modality === "text" ? 1 : 0),
    answer,
  });
  return { files, ...textPart, costMicroUsd, requestId };
};

/** Maximum number of distinct addresses in one call. */
const MAX_ADDRESSES = 100;

/** @throws DomainError if the provider would request an address that users can't use */
const checkAddresses = async (
  addresses: Pick<AddressRules, "resolvedProblem">,
  { inputSchema }: CatalogModel,
  model: string,
  inputs: Readonly<Record<string, unknown>>,
): Promise<void> => {
  const namesByUrl = new Map<string, string>();
  for (const { name, url } of inputAddresses(inputSchema, inputs)) {
    namesByUrl.set(url, name);
    if (namesByUrl.size > MAX_ADDRESSES) throw inputFailed(`${model}: its inputs name more than ${MAX_ADDRESSES} addresses`);
  }
  await Promise.all(
    [...namesByUrl].map(async ([url, name]) => {
      const problem = await addresses.resolvedProblem(url);
      if (problem !== undefined) throw inputFailed(`${model}: input ${name}: ${problem}`, QUOTES_ADDRESS);
    }),
  );
};

/** Signs addresses of the platform's own files for the provider. The signatures expire with the call. */
const signedInputs = ({ inputs, again }: SentInputs, sign: Sign): SentInputs => ({
  inputs: sign(inputs),
  ...(again ? { again: async () => sign(await again()) } : {}),
});

/** A call with its model, its provider and its final inputs. */
export type ReadyCall<Type extends Provider["type"]> = Awaited<ReturnType<typeof readyCall<Type>>>;

/** @throws DomainError if the model doesn't accept the call or an input. Earlier nodes may have produced the input. */
export const readyCall = async <Type extends Provider["type"]>(
  options: Pick<CallOptions, "catalog" | "provider" | "media" | "addresses" | "sendFiles" | "ownFiles" | "own">,
  callToMake: ModelCall,
  type: Type,
) => {
  const { model, provider } = await target(options, callToMake, type);
  const call: ModelCall = { ...callToMake, asked: fingerprintOfModel(callToMake, model, options.own) };
  const ready = await withFiles(options.media, model.inputSchema, call.inputs, call.userId, call.authorFiles);
  if ("problem" in ready) throw inputFailed(`${call.model}: input ${ready.problem}`, QUOTES_ADDRESS);
  if (options.addresses) await checkAddresses(options.addresses, model, call.model, ready.inputs);
  const [problem] = model.validate(ready.inputs);
  if (problem) throw inputFailed(`${call.model}: ${problem.path === "" ? "" : `input ${problem.path}: `}${problem.message}`);
  const inputs = pricedInputs(model.price, model.inputSchema, ready.inputs);
  const sign = await options.ownFiles?.(inputs, call.userId, call.model);
  const sentInputs: SentInputs = options.sendFiles ? await options.sendFiles(call, model, inputs) : { inputs };
  return { call, model, provider, ...(sign ? signedInputs(sentInputs, sign) : sentInputs) };
};

/** Statuses by which providers report a missing file. A 200 response can hold an error in its body. */
const MAY_LACK_A_FILE: ReadonlySet<number | undefined> = new Set([200, 400, 404, 410, 422]);

/** Makes a call. If the provider rejects files that were uploaded for an earlier call, uploads them again and repeats the call once. */
export const withFreshFiles = async <T>(
  { inputs, again }: SentInputs,
  send: (inputs: Record<string, unknown>) => Promise<T>,
): Promise<T> => {
  try {
    return await send(inputs);
  } catch (error) {
    const mayLackFile = error instanceof ProviderError && error.kind === "refused" && MAY_LACK_A_FILE.has(error.status);
    if (!again || !mayLackFile) throw error;
    return send(await again());
  }
};
