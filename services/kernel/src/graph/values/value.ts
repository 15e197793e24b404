import { LIMITS } from "../../limits";
import { textBytes } from "../bounds";
import { BindError, charactersOfWork, type RunBudget } from "../budget";
import { isRecord } from "../types";
import { withoutAbsent } from "./absent";

/** A file in media storage. */
export interface MediaValue {
  /** The media id, with which a client can request a new URL after this one has expired. */
  id?: string;
  url: string;
  contentType: string;
  /** Width in pixels of an image or video, if known. */
  width?: number;
  height?: number;
  /** Duration in seconds of a video or audio file, if known. */
  duration?: number;
}

export const isMedia = (value: unknown): value is MediaValue =>
  isRecord(value) && typeof value.url === "string" && typeof value.contentType === "string";

/** Returns a value as calls send it: each file is replaced by its URL. */
export const withAddresses = (value: unknown): unknown => {
  if (isMedia(value)) return value.url;
  return Array.isArray(value) ? value.map(withAddresses) : value;
};

/** Converts a value to text, for templates and text ports. List items are separated by blank lines. */
export const asText = (value: unknown): string => {
  if (value === undefined || value === null) return "";
  if (typeof value === "string") return value;
  if (Array.isArray(value)) return (withoutAbsent(value) as unknown[]).map(asText).join("\n\n");
  if (isMedia(value)) return value.url;
  return typeof value === "object" ? JSON.stringify(value) : String(value as number | boolean | bigint);
};

/** Joins the values of several edges at one port, in edge order. Lists are spread; undefined is skipped. */
export const concatenated = (values: readonly unknown[]): unknown[] =>
  values.flatMap((value) => (Array.isArray(value) ? (value as unknown[]) : value === undefined ? [] : [value]));

/** Returns an own member. Names come from users, so inherited members such as `constructor` must not match. */
export const member = <T>(record: Readonly<Record<string, T>>, name: string): T | undefined =>
  Object.hasOwn(record, name) ? record[name] : undefined;

/** `{{name}}`, with optional spaces. Names can use any script. */
const NAMED = /\{\{\s*([\p{L}\p{N}_][\p{L}\p{M}\p{N}_.-]*)\s*\}\}/u.source;
/** A leading backslash escapes a placeholder. */
const PLACEHOLDER = new RegExp(`(\\\\?)${NAMED}`, "gu");
const ALONE = new RegExp(`^\\s*${NAMED}\\s*$`, "u");

/** Properties of a file: `{{clip.duration}}` in seconds, `width` and `height` in pixels. */
const MEASURED = /^(.+)\.(width|height|duration)$/u;

const portOf = (name: string): string => MEASURED.exec(name)?.[1] ?? name;

/** The value of a placeholder: a port's value, or a property of its file. */
export const placed = (values: Readonly<Record<string, unknown>>, name: string): unknown => {
  const [, port, measure] = MEASURED.exec(name) ?? [];
  if (port === undefined || measure === undefined) return member(values, name);
  const value = member(values, port);
  return isRecord(value) ? member(value, measure) : undefined;
};

/** Ports that a text's placeholders name, without duplicates, in order of appearance. */
export const placeholders = (text: string): string[] => [
  ...new Set([...text.matchAll(PLACEHOLDER)].flatMap(([, escape, name]) => (escape ? [] : [portOf(name!)]))),
];

/** The name in a text that consists of one placeholder, for use with `placed`. */
export const placeholderAlone = (text: string): string | undefined => ALONE.exec(text)?.[1];

/** Ports that the placeholders in a JSON value name. */
export const placeholdersIn = (value: unknown): string[] => {
  if (typeof value === "string") return placeholders(value);
  if (Array.isArray(value)) return [...new Set(value.flatMap(placeholdersIn))];
  return isRecord(value) ? placeholdersIn(Object.values(value)) : [];
};

/** Number of placeholders per port in a JSON value. */
export const placeholderUses = (value: unknown, uses = new Map<string, number>()): Map<string, number> => {
  if (typeof value === "string") {
    for (const [, escape, name = ""] of value.matchAll(PLACEHOLDER)) if (!escape) uses.set(portOf(name), (uses.get(portOf(name)) ?? 0) + 1);
  } else if (Array.isArray(value)) for (const one of value) placeholderUses(one, uses);
  else if (isRecord(value)) placeholderUses(Object.values(value), uses);
  return uses;
};

/**
 * Fills the placeholders of a text once; inserted text isn't scanned again. An unresolved name becomes empty text.
 * @throws BindError above the length limit of a text, because texts built from texts would grow without bound
 */
export const fill = (
  text: string,
  resolve: (name: string, position: number) => unknown,
  budget?: RunBudget,
  /** True if a name can have different values at different positions. */
  isByPosition = false,
): string => {
  const tooLong = (): BindError => new BindError(`its text would be longer than ${LIMITS.textValueBytes} bytes`);
  const texts = new Map<string, string>();
  let added = 0;
  budget?.work(charactersOfWork(text.length));
  const filled = text.replace(PLACEHOLDER, (whole: string, escape: string, name: string, position: number) => {
    budget?.work(1);
    if (escape) return whole.slice(1);
    const value = (isByPosition ? undefined : texts.get(name)) ?? asText(resolve(name, position));
    texts.set(name, value);
    added += value.length;
    if (added > LIMITS.textValueBytes) throw tooLong();
    return value;
  });
  if (added > 0 && textBytes(filled) > LIMITS.textValueBytes) throw tooLong();
  return filled;
};

/** Fills every text of a JSON value. */
export const fillDeep = (value: unknown, resolve: (name: string) => unknown, budget?: RunBudget): unknown => {
  if (typeof value === "string") return fill(value, resolve, budget);
  budget?.work(1);
  if (Array.isArray(value)) return value.map((item) => fillDeep(item, resolve, budget));
  if (!isRecord(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, fillDeep(item, resolve, budget)]));
};
