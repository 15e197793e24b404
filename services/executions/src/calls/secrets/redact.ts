import { isRecord } from "@nodeloom/kernel";

/** Takes secrets out of what comes back: each occurrence becomes `[secrets.NAME]`. */

const REGEXP_CHARS = /[\\^$.*+?()[\]{}|/-]/g;
const BASE64_BITS = 6;
const BYTE_BITS = 8;

/** A value inside longer base64, by the three ways in which it may be aligned. Characters that neighbours share are left out. */
const inBase64 = (value: string): string[] =>
  [0, 1, 2].map((before) => {
    const bytes = Buffer.concat([Buffer.alloc(before), Buffer.from(value, "utf8")]);
    const whole = Math.floor((bytes.length * BYTE_BITS) / BASE64_BITS);
    return bytes.toString("base64").slice(Math.ceil((before * BYTE_BITS) / BASE64_BITS), whole);
  });

const lowerHex = (text: string): string => text.replace(/%[0-9A-F]{2}/g, (escape) => escape.toLowerCase());

/** How a value appears in texts: as it is, in lower case, in JSON, in URLs and forms, in base64. */
const formsOf = (value: string): string[] => {
  const json = JSON.stringify(value).slice(1, -1);
  const urls = [encodeURIComponent(value), encodeURI(value), new URLSearchParams([["", value]]).toString().slice(1)];
  const base64 = inBase64(value);
  const urlSafe = base64.map((text) => text.replaceAll("+", "-").replaceAll("/", "_"));
  // Names of hosts and of encodings are lower-case.
  return [value, value.toLowerCase(), json, json.replaceAll("/", "\\/"), ...urls, ...urls.map(lowerHex), ...base64, ...urlSafe];
};

export interface Redaction {
  text(text: string): string;
  /** Every text and number in a JSON value, and the names of members. */
  deep(value: unknown): unknown;
}

/** @param values secrets by name */
export const createRedaction = (values: ReadonlyMap<string, string>): Redaction => {
  const names = new Map([...values].flatMap(([name, value]) => formsOf(value).map((form): [string, string] => [form, name])));
  const longestFirst = [...names.keys()].filter(Boolean).sort((one, other) => other.length - one.length);
  const pattern = new RegExp(longestFirst.map((form) => form.replace(REGEXP_CHARS, "\\$&")).join("|"), "g");
  const text = (given: string): string =>
    longestFirst.length === 0 ? given : given.replace(pattern, (form) => `[secrets.${names.get(form) ?? ""}]`);

  const deep = (value: unknown): unknown => {
    if (typeof value === "string") return text(value);
    if (typeof value === "number") {
      const shown = text(String(value));
      return shown === String(value) ? value : shown;
    }
    if (Array.isArray(value)) return value.map(deep);
    return isRecord(value) ? Object.fromEntries(Object.entries(value).map(([key, item]) => [text(key), deep(item)])) : value;
  };

  return { text, deep };
};
