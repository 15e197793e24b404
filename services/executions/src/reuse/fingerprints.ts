/** Computes the digest of a call's request. Calls with equal digests can be reused. */
import { createHash } from "node:crypto";
import { isRecord, isStoredFile, mediaOperation, type HttpCall, type JsonSchema } from "@nodeloom/kernel";
import type { CatalogModel } from "../plan/model-catalog";
import { fileInputsOf } from "../plan/planner/file-inputs";
import type { ModelCall, TransformCall } from "../run/calls";
import type { CallFingerprint } from "../run/types";

/** Sorts members, so that their order doesn't change the digest. */
const ordered = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(ordered);
  if (!isRecord(value)) return value;
  const names = Object.keys(value).filter((name) => value[name] !== undefined);
  return { members: names.sort().map((name) => [name, ordered(value[name])]) };
};

const digestOf = (...parts: unknown[]): string =>
  createHash("sha256")
    .update(JSON.stringify(parts.map(ordered)))
    .digest("hex");

type Inputs = Readonly<Record<string, unknown>>;

/** Replaces files of the platform's storage in inputs with numbers. */
const numbered = (inputs: Inputs, schema: JsonSchema, own: string): { inputs: Inputs; files: string[] } => {
  const files: string[] = [];
  const place = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(place);
    if (typeof value !== "string" || !isStoredFile(value, own)) return value;
    return { file: files.push(value) };
  };
  const fileInputs = fileInputsOf(schema).filter((name) => Object.hasOwn(inputs, name));
  const placed = fileInputs.map((name): [string, unknown] => [name, place(inputs[name])]);
  return { inputs: { ...inputs, ...Object.fromEntries(placed) }, files };
};

/** @param own address prefix of the platform's own storage */
export const fingerprintOfModel = (
  { inputs, schema, repair }: Pick<ModelCall, "inputs" | "schema" | "repair">,
  { internalName, providerJson, inputSchemaJson, inputSchema }: CatalogModel,
  own: string,
): CallFingerprint => {
  const settings = numbered(inputs, inputSchema, own);
  return { digest: digestOf("model", internalName, providerJson, inputSchemaJson, settings.inputs, schema, repair), files: settings.files };
};

export const fingerprintOfHttp = (call: HttpCall): CallFingerprint => ({ digest: digestOf("http", call), files: [] });

/** @param version version of the program for the operation */
export const fingerprintOfTransform = (
  { operation, inputs }: Pick<TransformCall, "operation" | "inputs">,
  version: string,
  own: string,
): CallFingerprint => {
  const settings = numbered(inputs, mediaOperation(operation)?.schema ?? {}, own);
  return { digest: digestOf("operation", operation, version, settings.inputs), files: settings.files };
};
