import { LIMITS } from "../../limits";
import { textBytes } from "../bounds";
import { BindError, charactersOfWork, type RunBudget } from "../budget";
import { isRecord } from "../types";
import { withoutAbsent } from "./absent";

/** A file in media storage as it flows along an edge. */
export interface MediaValue {
  url: string;
  contentType: string;
  /** Pixels, of images and videos, where they are known. */
  width?: number;
  height?: number;
  /** Seconds, of videos and sounds, where they are known. */
  duration?: number;
}

export const isMedia = (value: unknown): value is MediaValue =>
  isRecord(value) && typeof value.url === "string" && typeof value.contentType === "string";

/** A value as a call is given it: files are their addresses. */
export const withAddresses = (value: unknown): unknown => {
  if (isMedia(value)) return value.url;
  return Array.isArray(value) ? value.map(withAddresses) : value;
};

/** A value as text: what templates and text ports make of it. Lists are joined by blank lines. */
export const asText = (value: unknown): string => {
  if (value === undefined || value === null) return "";
  if (typeof value === "string") return value;
  if (Array.isArray(value)) return (withoutAbsent(value) as unknown[]).map(asText).join("\n\n");
  if (isMedia(value)) return value.url;
  return typeof value === "object" ? JSON.stringify(value) : String(value as number | boolean | bigint);
};

/** What several edges into one port make: their values in edge order, lists spread. What was never given adds nothing. */
export const concatenated = (values: readonly unknown[]): unknown[] =>
  values.flatMap((value) => (Array.isArray(value) ? (value as unknown[]) : value === undefined ? [] : [value]));

/** A member by a name that users choose, such as `constructor`; inherited ones are none. */
export const member = <T>(record: Readonly<Record<string, T>>, name: string): T | undefined =>
  Object.hasOwn(record, name) ? record[name] : undefined;

/** `{{name}}`, with blanks around the name, in any script. */
const NAMED = /\{\{\s*([\p{L}\p{N}_][\p{L}\p{M}\p{N}_.-]*)\s*\}\}/u.source;
/** A backslash before it makes it plain text. */
const PLACEHOLDER = new RegExp(`(\\\\?)${NAMED}`, "gu");
const ALONE = new RegExp(`^\\s*${NAMED}\\s*$`, "u");

/** What a template may ask of a file beside its address: `{{clip.duration}}`, in seconds; pixels. */
const MEASURED = /^(.+)\.(width|height|duration)$/u;

/** The port that a placeholder's name means. */
const portOf = (name: string): string => MEASURED.exec(name)?.[1] ?? name;

/** What a placeholder's name stands for, by the values of ports: one of them, or what is known of a file's size or length. */
export const placed = (values: Readonly<Record<string, unknown>>, name: string): unknown => {
  const [, port, measure] = MEASURED.exec(name) ?? [];
  if (port === undefined || measure === undefined) return member(values, name);
  const value = member(values, port);
  return isRecord(value) ? member(value, measure) : undefined;
};

/** The distinct ports that `{{name}}` in a text means, in order of appearance. */
export const placeholders = (text: string): string[] => [
  ...new Set([...text.matchAll(PLACEHOLDER)].flatMap(([, escape, name]) => (escape ? [] : [portOf(name!)]))),
];

/** The name in a text that is one `{{name}}` and nothing else, for `placed`. */
export const placeholderAlone = (text: string): string | undefined => ALONE.exec(text)?.[1];

/** The ports of every `{{name}}` anywhere inside a JSON value. */
export const placeholdersIn = (value: unknown): string[] => {
  if (typeof value === "string") return placeholders(value);
  if (Array.isArray(value)) return [...new Set(value.flatMap(placeholdersIn))];
  return isRecord(value) ? placeholdersIn(Object.values(value)) : [];
};

/** How often each port is used as `{{name}}` anywhere inside a JSON value. */
export const placeholderUses = (value: unknown, uses = new Map<string, number>()): Map<string, number> => {
  if (typeof value === "string") {
    for (const [, escape, name = ""] of value.matchAll(PLACEHOLDER)) if (!escape) uses.set(portOf(name), (uses.get(portOf(name)) ?? 0) + 1);
  } else if (Array.isArray(value)) for (const one of value) placeholderUses(one, uses);
  else if (isRecord(value)) placeholderUses(Object.values(value), uses);
  return uses;
};

/**
 * Fills `{{name}}` in a text, once: what is put in is not read again. An unresolved name becomes empty text.
 * @throws BindError when the text would outgrow its limit: texts that are made of texts grow without bounds.
 */
export const fill = (
  text: string,
  resolve: (name: string, position: number) => unknown,
  budget?: RunBudget,
  /** Whether the same name may become another text elsewhere. */
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

/** Fills every text inside a JSON value. */
export const fillDeep = (value: unknown, resolve: (name: string) => unknown, budget?: RunBudget): unknown => {
  if (typeof value === "string") return fill(value, resolve, budget);
  budget?.work(1);
  if (Array.isArray(value)) return value.map((item) => fillDeep(item, resolve, budget));
  if (!isRecord(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, fillDeep(item, resolve, budget)]));
};
