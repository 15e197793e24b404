import { LIMITS } from "../../limits";
import { textBytes } from "../bounds";
import { BindError, charactersOfWork, type RunBudget } from "../budget";
import { isRecord } from "../types";
import { withoutAbsent } from "./absent";

/** A file in media storage. */
export interface MediaValue {
  /** Asks for a new address of a stored file when this one has expired. */
  id?: string;
  url: string;
  contentType: string;
  /** In pixels, for images and videos, if known. */
  width?: number;
  height?: number;
  /** In seconds, for videos and audio, if known. */
  duration?: number;
}

export const isMedia = (value: unknown): value is MediaValue =>
  isRecord(value) && typeof value.url === "string" && typeof value.contentType === "string";

/** A value as calls send it: files become URLs. */
export const withAddresses = (value: unknown): unknown => {
  if (isMedia(value)) return value.url;
  return Array.isArray(value) ? value.map(withAddresses) : value;
};

/** A value as text, for templates and text ports. Lists are joined by blank lines. */
export const asText = (value: unknown): string => {
  if (value === undefined || value === null) return "";
  if (typeof value === "string") return value;
  if (Array.isArray(value)) return (withoutAbsent(value) as unknown[]).map(asText).join("\n\n");
  if (isMedia(value)) return value.url;
  return typeof value === "object" ? JSON.stringify(value) : String(value as number | boolean | bigint);
};

/** Values of several edges at one port, in edge order. Lists are spread; undefined is skipped. */
export const concatenated = (values: readonly unknown[]): unknown[] =>
  values.flatMap((value) => (Array.isArray(value) ? (value as unknown[]) : value === undefined ? [] : [value]));

/** An own member. Names come from users, so inherited ones such as `constructor` must not match. */
export const member = <T>(record: Readonly<Record<string, T>>, name: string): T | undefined =>
  Object.hasOwn(record, name) ? record[name] : undefined;

/** `{{name}}`, with optional spaces, in any script. */
const NAMED = /\{\{\s*([\p{L}\p{N}_][\p{L}\p{M}\p{N}_.-]*)\s*\}\}/u.source;
/** A leading backslash escapes it. */
const PLACEHOLDER = new RegExp(`(\\\\?)${NAMED}`, "gu");
const ALONE = new RegExp(`^\\s*${NAMED}\\s*$`, "u");

/** Measures of a file: `{{clip.duration}}` in seconds, `width` and `height` in pixels. */
const MEASURED = /^(.+)\.(width|height|duration)$/u;

const portOf = (name: string): string => MEASURED.exec(name)?.[1] ?? name;

/** The value of a placeholder: a port's value, or a measure of its file. */
export const placed = (values: Readonly<Record<string, unknown>>, name: string): unknown => {
  const [, port, measure] = MEASURED.exec(name) ?? [];
  if (port === undefined || measure === undefined) return member(values, name);
  const value = member(values, port);
  return isRecord(value) ? member(value, measure) : undefined;
};

/** Distinct ports of the placeholders in a text, in order of appearance. */
export const placeholders = (text: string): string[] => [
  ...new Set([...text.matchAll(PLACEHOLDER)].flatMap(([, escape, name]) => (escape ? [] : [portOf(name!)]))),
];

/** The name in a text that is a single placeholder and nothing else, for `placed`. */
export const placeholderAlone = (text: string): string | undefined => ALONE.exec(text)?.[1];

/** Ports of all placeholders in a JSON value. */
export const placeholdersIn = (value: unknown): string[] => {
  if (typeof value === "string") return placeholders(value);
  if (Array.isArray(value)) return [...new Set(value.flatMap(placeholdersIn))];
  return isRecord(value) ? placeholdersIn(Object.values(value)) : [];
};

/** Number of uses of each port as a placeholder in a JSON value. */
export const placeholderUses = (value: unknown, uses = new Map<string, number>()): Map<string, number> => {
  if (typeof value === "string") {
    for (const [, escape, name = ""] of value.matchAll(PLACEHOLDER)) if (!escape) uses.set(portOf(name), (uses.get(portOf(name)) ?? 0) + 1);
  } else if (Array.isArray(value)) for (const one of value) placeholderUses(one, uses);
  else if (isRecord(value)) placeholderUses(Object.values(value), uses);
  return uses;
};

/**
 * Fills the placeholders of a text once; inserted text isn't scanned again. An unresolved name becomes empty text.
 * @throws BindError above the limit of a text: texts made of texts would grow without bounds
 */
export const fill = (
  text: string,
  resolve: (name: string, position: number) => unknown,
  budget?: RunBudget,
  /** True if one name can have different values at different positions. */
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
