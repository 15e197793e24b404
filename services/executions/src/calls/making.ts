import { isDataUrl, isFileType, isMedia, member, schemaPorts, searchWords, titleOf, type JsonSchema } from "@nodeloom/kernel";
import { media as mediaProto } from "@nodeloom/proto";
import { each } from "../plan/planner/file-inputs";
import type { CatalogModel } from "../plan/model-catalog";
import type { CallOrigin, ModelCall, TransformCall } from "../run/calls";
import type { CallContext } from "../run/types";

/** Builds the provenance of a call's files. Media stores it with the files. */

const MAX_PARENTS = 50;
/** A longer reference is a data URL, which doesn't identify a file. */
const MAX_REFERENCE_CHARS = 2_000;
/** Maximum characters of one setting, and of all settings together. */
const MAX_TEXT_CHARS = 8_000;
const MAX_INPUTS_BYTES = 64 * 1024;

const { MAKER_ALGORITHM, MAKER_MODEL, MAKER_OPERATION } = mediaProto.Maker;

type Inputs = Readonly<Record<string, unknown>>;

const referenceOf = (value: unknown): string | undefined => {
  const reference = isMedia(value) ? value.url : value;
  return typeof reference === "string" && reference !== "" ? reference : undefined;
};

const fileNamesOf = (inputSchema: JsonSchema): string[] =>
  schemaPorts(inputSchema).flatMap(([name, { type }]) => (isFileType(type) ? [name] : []));

const parentsOf = (inputSchema: JsonSchema, inputs: Inputs): string[] => {
  const files = fileNamesOf(inputSchema).flatMap((name) => each(member(inputs, name)));
  const references = files.flatMap((file) => referenceOf(file) ?? []);
  // A data URL still counts as one input file.
  const names = references.map((reference) => (reference.length > MAX_REFERENCE_CHARS ? "data:," : reference));
  return [...new Set(names)].slice(0, MAX_PARENTS);
};

/** Returns prompts and settings as JSON without files. Long texts are truncated. If the result would be too long, it is empty. */
const inputsOf = (inputSchema: JsonSchema, inputs: Inputs): string => {
  const files = new Set(fileNamesOf(inputSchema));
  const shownInputs = Object.entries(inputs).flatMap(([name, value]): [string, unknown][] => {
    if (files.has(name) || value === undefined) return [];
    return [[name, typeof value === "string" ? value.slice(0, MAX_TEXT_CHARS) : value]];
  });
  const json = JSON.stringify(Object.fromEntries(shownInputs));
  return Buffer.byteLength(json) > MAX_INPUTS_BYTES ? "" : json;
};

/** Inputs that describe the result, most telling first. */
const DESCRIBING = ["prompt", "text", "lyrics"];
const EXCLUDED = /negative/i;

/** Texts by which the files of a call are found. */
const findingOf = (
  { findableIn, inputs, label = "" }: CallContext & { inputs: Inputs },
  maker: string,
  inputSchema: JsonSchema,
): Pick<CallOrigin, "words" | "title"> => {
  if (findableIn === undefined) return { words: [], title: "" };
  const files = new Set(fileNamesOf(inputSchema));
  const textOf = (name: string): string[] => {
    const value = member(inputs, name);
    return typeof value === "string" && !files.has(name) && !EXCLUDED.test(name) && !isDataUrl(value) ? [value] : [];
  };
  const described = DESCRIBING.flatMap(textOf);
  const others = Object.keys(inputs).filter((name) => !DESCRIBING.includes(name));
  return { words: searchWords(maker, findableIn, label, ...described, ...others.flatMap(textOf)), title: titleOf(described[0] ?? "") };
};

/** Returns what the inputs of a call say about the origin of its files. */
const originOf = (call: ModelCall | TransformCall, maker: string, inputSchema: JsonSchema): CallOrigin => ({
  parents: parentsOf(inputSchema, call.inputs),
  inputsJson: call.provenance === "full" ? inputsOf(inputSchema, call.inputs) : "",
  ...findingOf(call, maker, inputSchema),
});

export const originOfModelCall = (call: ModelCall, { inputSchema }: CatalogModel): CallOrigin => originOf(call, call.model, inputSchema);

/** Owner of the files that a call creates or fetches. */
export const ownerOf = ({ ownerId, userId }: CallContext): string => ownerId ?? userId;

export const makingOf = (call: ModelCall, model: CatalogModel): mediaProto.Making =>
  mediaProto.Making.fromPartial({
    maker: model.sandbox ? MAKER_ALGORITHM : MAKER_MODEL,
    model: call.model,
    nodeId: call.nodeId,
    executionId: call.executionId,
    ...(call.origin ?? originOfModelCall(call, model)),
  });

export const makingByOperation = (call: TransformCall, schema: JsonSchema): mediaProto.Making =>
  mediaProto.Making.fromPartial({
    maker: MAKER_OPERATION,
    model: call.operation,
    nodeId: call.nodeId,
    executionId: call.executionId,
    ...originOf(call, call.operation, schema),
  });
