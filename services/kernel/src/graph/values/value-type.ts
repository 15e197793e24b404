import type { Issue } from "../../errors";
import { LIMITS } from "../../limits";
import { valueBytes } from "../bounds";
import { mediaFamily } from "./media";
import { isMedia } from "./value";

/** The type of a value, used to check its replacement. */

type Single = "nothing" | "text" | "number" | "boolean" | "object" | "image" | "video" | "audio" | "model3d" | "file";

export interface ValueType {
  /** Distinct types of the items, if the value is a list. */
  types: Single[];
  /** Number of items, if the value is a list. */
  items?: number;
  /** Size of the value as JSON, in bytes. */
  bytes: number;
}

const singleType = (value: unknown): Single => {
  if (value === null || value === undefined) return "nothing";
  if (isMedia(value)) return mediaFamily(value.contentType) ?? "file";
  if (typeof value === "string") return "text";
  return typeof value === "number" || typeof value === "boolean" ? (typeof value as "number" | "boolean") : "object";
};

export const valueTypeOf = (value: unknown): ValueType => {
  const bytes = valueBytes(value, Number.MAX_SAFE_INTEGER);
  if (!Array.isArray(value)) return { types: [singleType(value)], bytes };
  return { types: [...new Set(value.map(singleType))], items: value.length, bytes };
};

const CALLED: Readonly<Record<Single, string>> = {
  nothing: "null",
  text: "text",
  number: "a number",
  boolean: "true or false",
  object: "an object",
  image: "an image",
  video: "a video",
  audio: "an audio file",
  model3d: "a 3D model",
  file: "a file",
};

const FILES: ReadonlySet<Single> = new Set(["image", "video", "audio", "model3d", "file"]);

export const isOfFiles = ({ types }: ValueType): boolean => types.length > 0 && types.every((type) => FILES.has(type));

/**
 * Reasons why a value can't replace another: a different type, a longer list, or too many bytes. Later steps were priced for the original
 * value.
 * @param shownType the type of the original value
 */
export const replacementIssues = (shownType: ValueType, value: unknown): Issue[] => {
  const { types, items, bytes } = valueTypeOf(value);
  const issue = (message: string): Issue[] => [{ path: "value", message }];
  const expectedTypes = [...new Set(shownType.types)].map((type) => CALLED[type]).join(" or ");
  const most = Math.max(shownType.bytes, LIMITS.changedValueBytes);
  if (bytes > most) return issue(`must have at most ${most} bytes as JSON, and takes ${bytes}`);
  if (shownType.items === undefined && items !== undefined) return issue(`must be ${expectedTypes}, like the original value`);
  if (shownType.items !== undefined && items === undefined) return issue("must be a list, like the original value");
  if (items !== undefined && items > shownType.items!) return issue(`must have at most ${shownType.items!} items, like the original list`);
  const other = types.find((type) => !shownType.types.includes(type));
  return other === undefined ? [] : issue(`must be ${items === undefined ? "" : "a list of "}${expectedTypes}, not ${CALLED[other]}`);
};
