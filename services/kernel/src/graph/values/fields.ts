import type { Issue } from "../../errors";
import { INEXACT_NUMBER, isInexactInteger } from "../../text/json-text";
import { LIMITS } from "../../limits";
import { didYouMean } from "../../text/nearest-name";
import { textBytes } from "../bounds";
import { characterCount } from "../prices/price";
import { hasInfinite } from "./json-text";
import { familyOfPort, MEDIA_FAMILIES, mediaProblem, type MediaFamily } from "./media";
import { isRecord } from "../types";

export const FIELD_TYPES = [
  "text",
  "textarea",
  "number",
  "boolean",
  "select",
  "image_upload",
  "mask_upload",
  "video_upload",
  "audio_upload",
  "model3d_upload",
  "json",
] as const;

/** One input of a workflow, declared by its request-input node. */
export interface InputField {
  name: string;
  type: string;
  label: string;
  default?: unknown;
  /** Only for type `select`. */
  options?: string[];
  required: boolean;
  min?: number;
  max?: number;
  /** True if the value is a list of files. Only for file fields. */
  multiple?: boolean;
  /** Maximum files of a list. Without it, as many as a node can map over. */
  maxItems?: number;
}

const bound = (value: unknown): number | undefined => (typeof value === "number" && Number.isFinite(value) ? value : undefined);

const readField = (raw: unknown): InputField | undefined => {
  if (!isRecord(raw) || typeof raw.name !== "string" || raw.name === "") return undefined;
  const type = typeof raw.type === "string" ? raw.type : "text";
  const field: InputField = {
    name: raw.name,
    type,
    label: typeof raw.label === "string" ? raw.label : raw.name,
    required: raw.required === true,
  };
  // For type `json`, null is a valid default. For other types it means that there is no default.
  if (raw.default !== undefined && (raw.default !== null || type === "json")) field.default = raw.default;
  if (type === "select") field.options = Array.isArray(raw.options) ? raw.options.filter((option) => typeof option === "string") : [];
  const [min, max] = [bound(raw.min), bound(raw.max)];
  if (min !== undefined) field.min = min;
  if (max !== undefined) field.max = max;
  if (raw.multiple === true) field.multiple = true;
  if (field.multiple && typeof raw.maxItems === "number") field.maxItems = raw.maxItems;
  return field;
};

/** Fields of one request-input node. Invalid entries are skipped. */
export const fieldsOf = (data: Readonly<Record<string, unknown>>): InputField[] =>
  (Array.isArray(data.fields) ? data.fields : []).map(readField).filter((field) => field !== undefined);

const outside = (field: InputField, size: number, what: string): string | undefined => {
  if (field.min !== undefined && size < field.min) return `${what} must be at least ${field.min}`;
  if (field.max !== undefined && size > field.max) return `${what} must be at most ${field.max}`;
  return undefined;
};

const checkText = (field: InputField, value: unknown): string | undefined => {
  if (typeof value !== "string") return "must be text";
  if (textBytes(value) > LIMITS.textValueBytes) return `is longer than ${LIMITS.textValueBytes} bytes`;
  return field.min === undefined && field.max === undefined ? undefined : outside(field, characterCount(value), "its length");
};

const hasLongText = (value: unknown): boolean => {
  if (typeof value === "string") return textBytes(value) > LIMITS.textValueBytes;
  return typeof value === "object" && value !== null && Object.values(value).some(hasLongText);
};

/** The total size is counted together with the run's other values. */
const checkJson = (value: unknown): string | undefined => {
  if (hasLongText(value)) return `has a text longer than ${LIMITS.textValueBytes} bytes`;
  return hasInfinite(value) ? "has a number that is too large" : undefined;
};

const UPLOADS: ReadonlyMap<string, MediaFamily | "mask"> = new Map(
  ([...MEDIA_FAMILIES, "mask"] as const).map((type) => [`${type}_upload`, type]),
);

/** The type of the files that a field accepts; undefined for fields that aren't files. */
export const uploadType = ({ type }: Pick<InputField, "type">): MediaFamily | "mask" | undefined => UPLOADS.get(type);

/** The media family that a field accepts; undefined for fields that aren't files. */
export const uploadFamily = (field: Pick<InputField, "type">): MediaFamily | undefined => {
  const type = uploadType(field);
  return type && familyOfPort(type);
};

/** True for a field whose value is a list of files. */
export const takesFiles = (field: { type: string; multiple?: boolean | undefined }): boolean =>
  field.multiple === true && uploadType(field) !== undefined;

/** Maximum files of a field that takes a list of them. */
export const maxFiles = ({ maxItems = LIMITS.fanOutItems }: { maxItems?: number | undefined }): number => maxItems;

/** True for a value that means no file. An omitted input takes its default, so callers send this to leave a file input empty. */
const isNoFile = (value: unknown): boolean => value === null || value === "";

interface Problem {
  /** Index of the item in a list of files, counted from 0. */
  item?: number;
  message: string;
}

/** Path of an input, or of an item in a list of files: `inputs.photos.2`. */
export const inputPath = (name: string, item?: number): string => `inputs.${name}${item === undefined ? "" : `.${item}`}`;

const fieldProblems = (field: InputField, value: unknown): Problem[] => {
  const isList = takesFiles(field);
  const items: unknown = isList ? value : [value];
  if (!Array.isArray(items) || (isList && items.length > maxFiles(field)))
    return [{ message: `must be a list of at most ${maxFiles(field)} files` }];
  return items.flatMap((one: unknown, item): Problem[] => {
    const message = valueProblem(field, one);
    return message === undefined ? [] : [isList ? { item, message } : { message }];
  });
};

/** The problem of a value for a field, or undefined. For a list of files, the problem of its first unfit item. */
export const fieldProblem = (field: InputField, value: unknown): string | undefined => fieldProblems(field, value)[0]?.message;

const valueProblem = (field: InputField, value: unknown): string | undefined => {
  switch (field.type) {
    case "text":
    case "textarea":
      return checkText(field, value);
    case "number":
      if (typeof value === "string" && isInexactInteger(value)) return INEXACT_NUMBER;
      return typeof value === "number" && Number.isFinite(value) ? outside(field, value, "it") : "must be a number";
    case "boolean":
      return typeof value === "boolean" ? undefined : "must be true or false";
    case "select":
      return typeof value === "string" && field.options?.includes(value)
        ? undefined
        : `must be one of ${(field.options ?? []).join(", ")}${typeof value === "string" ? didYouMean(value, field.options ?? []) : ""}`;
    case "image_upload":
    case "mask_upload":
    case "video_upload":
    case "audio_upload":
    case "model3d_upload":
      return mediaProblem(uploadType(field)!, value);
    default:
      return checkJson(value);
  }
};

/** Inputs by field name. Names match across Unicode normalization forms (NFC, NFD). */
const byFieldName = (fields: readonly InputField[], inputs: Readonly<Record<string, unknown>>): ReadonlyMap<string, unknown> => {
  const names = new Map(fields.map(({ name }) => [name.normalize(), name]));
  const exact = new Set(fields.map(({ name }) => name));
  return new Map(Object.entries(inputs).map(([name, value]) => [exact.has(name) ? name : (names.get(name.normalize()) ?? name), value]));
};

/** The value of a field: given, or its default. A list of files without a value is empty. */
const valueOf = (field: InputField, inputs: ReadonlyMap<string, unknown>): unknown => {
  const value = inputs.has(field.name) ? inputs.get(field.name) : field.default;
  const isEmpty = value === undefined || (uploadType(field) !== undefined && isNoFile(value));
  if (!isEmpty) return value;
  return takesFiles(field) ? [] : undefined;
};

/** Unknown inputs for which similar names are looked up. */
const MOST_SUGGESTIONS = 20;

/** Applies defaults and checks every value. Unknown keys are problems, so that typos are noticed. */
export const resolveInputs = (
  fields: readonly InputField[],
  inputs: Readonly<Record<string, unknown>>,
): { values: Map<string, unknown>; issues: Issue[] } => {
  const values = new Map<string, unknown>();
  const issues: Issue[] = [];
  const knownNames = new Set(fields.map((field) => field.name));
  const valuesByName = byFieldName(fields, inputs);
  for (const name of valuesByName.keys())
    if (!knownNames.has(name)) {
      const suggestion =
        issues.length < MOST_SUGGESTIONS
          ? didYouMean(
              name,
              fields.map((field) => field.name).filter((one) => !valuesByName.has(one)),
            )
          : "";
      issues.push({ path: `inputs.${name}`, message: `is not an input of this workflow${suggestion}`, code: "UNKNOWN_INPUT" });
    }
  for (const field of fields) {
    const value = valueOf(field, valuesByName);
    const isEmpty = value === undefined || (takesFiles(field) && Array.isArray(value) && value.length === 0);
    if (isEmpty && field.required) {
      issues.push({ path: inputPath(field.name), message: "is required", code: "REQUIRED" });
      continue;
    }
    if (value === undefined) continue;
    const problems = valuesByName.has(field.name) ? fieldProblems(field, value) : [];
    for (const { item, message } of problems) issues.push({ path: inputPath(field.name, item), message });
    if (problems.length === 0) values.set(field.name, value);
  }
  return { values, issues };
};
