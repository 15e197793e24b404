import { isFileType, isMedia, member, schemaPorts, type JsonSchema } from "@nodeloom/kernel";
import { media as mediaProto } from "@nodeloom/proto";
import { each } from "../plan/planner/file-inputs";
import type { CatalogModel } from "../plan/model-catalog";
import type { ModelCall, TransformCall } from "../run/calls";
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

const parentsOf = (inputSchema: JsonSchema, inputs: Inputs): string[] => {
  const files = schemaPorts(inputSchema).flatMap(([name, { type }]) => (isFileType(type) ? each(member(inputs, name)) : []));
  const references = files.flatMap((file) => referenceOf(file) ?? []);
  // A data URL still counts as one input file.
  const names = references.map((reference) => (reference.length > MAX_REFERENCE_CHARS ? "data:," : reference));
  return [...new Set(names)].slice(0, MAX_PARENTS);
};

/** Returns prompts and settings as JSON without files. Long texts are truncated. If the result would be too long, it is empty. */
const inputsOf = (inputSchema: JsonSchema, inputs: Inputs): string => {
  const files = new Set(schemaPorts(inputSchema).flatMap(([name, { type }]) => (isFileType(type) ? [name] : [])));
  const shownInputs = Object.entries(inputs).flatMap(([name, value]): [string, unknown][] => {
    if (files.has(name) || value === undefined) return [];
    return [[name, typeof value === "string" ? value.slice(0, MAX_TEXT_CHARS) : value]];
  });
  const json = JSON.stringify(Object.fromEntries(shownInputs));
  return Buffer.byteLength(json) > MAX_INPUTS_BYTES ? "" : json;
};

/** Owner of the files that a call creates or fetches. */
export const ownerOf = ({ ownerId, userId }: CallContext): string => ownerId ?? userId;

export const makingOf = (call: ModelCall, model: CatalogModel): mediaProto.Making =>
  mediaProto.Making.fromPartial({
    maker: model.sandbox ? MAKER_ALGORITHM : MAKER_MODEL,
    model: call.model,
    nodeId: call.nodeId,
    executionId: call.executionId,
    parents: parentsOf(model.inputSchema, call.inputs),
    inputsJson: call.provenance === "full" ? inputsOf(model.inputSchema, call.inputs) : "",
  });

export const makingByOperation = (call: TransformCall, schema: JsonSchema): mediaProto.Making =>
  mediaProto.Making.fromPartial({
    maker: MAKER_OPERATION,
    model: call.operation,
    nodeId: call.nodeId,
    executionId: call.executionId,
    parents: parentsOf(schema, call.inputs),
    inputsJson: call.provenance === "full" ? inputsOf(schema, call.inputs) : "",
  });
