/**
 * JSON as text. What clients save in a workflow must come back exactly as it was sent (number spelling, key order,
 * duplicate keys, `__proto__`, …), so those members travel as slices of the original text and never as parsed values.
 */

/** A JSON text that is written into a reply as it is. */
export class RawJson {
  constructor(readonly text: string) {}
}

/** A stored JSON text, or what stands for it when there is none. */
export const raw = (text: string, absent = "null"): RawJson => new RawJson(text === "" ? absent : text);

/** Names of members are few, and the same in every row of every list. */
const quotedNames = new Map<string, string>();
const MAX_QUOTED_NAMES = 1_000;

const quotedName = (name: string): string => {
  const known = quotedNames.get(name);
  if (known !== undefined) return known;
  const quoted = `${JSON.stringify(name)}:`;
  if (quotedNames.size < MAX_QUOTED_NAMES) quotedNames.set(name, quoted);
  return quoted;
};

const listJson = (items: readonly unknown[]): string => {
  let text = "[";
  for (const [index, item] of items.entries()) text += (index === 0 ? "" : ",") + toJson(item ?? null);
  return `${text}]`;
};

const objectJson = (value: object): string => {
  let text = "{";
  for (const name of Object.keys(value)) {
    const member = (value as Record<string, unknown>)[name];
    if (member !== undefined) text += (text === "{" ? "" : ",") + quotedName(name) + toJson(member);
  }
  return `${text}}`;
};

/** Serializes a value in which RawJson may stand for any member. Members that are undefined are left out. */
export const toJson = (value: unknown): string => {
  if (typeof value === "boolean") return value ? "true" : "false";
  if (value === null || typeof value !== "object" || value instanceof Date) return JSON.stringify(value) ?? "null";
  if (value instanceof RawJson) return value.text;
  return Array.isArray(value) ? listJson(value) : objectJson(value);
};

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const COLON = 0x3a;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;

const isSpace = (code: number): boolean => code === 0x20 || code === 0x0a || code === 0x0d || code === 0x09;

const skipSpace = (text: string, from: number): number => {
  let at = from;
  while (isSpace(text.charCodeAt(at))) at += 1;
  return at;
};

/** The index after the closing quote of the string that opens at `from`. */
const endOfString = (text: string, from: number): number => {
  let at = from + 1;
  for (;;) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) return at + 1;
    at += code === BACKSLASH ? 2 : 1;
  }
};

/** The index after the value that starts at `from`. */
const endOfValue = (text: string, from: number): number => {
  let depth = 0;
  let at = from;
  while (at < text.length) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) {
      at = endOfString(text, at);
      if (depth === 0) return at;
      continue;
    }
    if (code === OPEN_BRACE || code === OPEN_BRACKET) depth += 1;
    else if (code === CLOSE_BRACE || code === CLOSE_BRACKET) {
      if (depth === 0) return at;
      depth -= 1;
      if (depth === 0) return at + 1;
    } else if (depth === 0 && (code === COMMA || isSpace(code))) return at;
    at += 1;
  }
  return at;
};

/**
 * The members of a top-level object as slices of its text. The text must have passed JSON.parse as an object.
 * Of a name that occurs twice the last counts, as in JSON.parse.
 */
export const topLevelMembers = (text: string): Map<string, string> => {
  const members = new Map<string, string>();
  let at = skipSpace(text, text.indexOf("{") + 1);
  while (text.charCodeAt(at) === QUOTE) {
    const nameEnd = endOfString(text, at);
    const name = JSON.parse(text.slice(at, nameEnd)) as string;
    const colon = skipSpace(text, nameEnd);
    if (text.charCodeAt(colon) !== COLON) break;
    const start = skipSpace(text, colon + 1);
    const end = endOfValue(text, start);
    members.set(name, text.slice(start, end));
    const next = skipSpace(text, end);
    if (text.charCodeAt(next) !== COMMA) break;
    at = skipSpace(text, next + 1);
  }
  return members;
};
