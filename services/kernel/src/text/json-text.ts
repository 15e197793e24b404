/**
 * Edits JSON as text, for the gateway and the console. A workflow must be returned exactly as it was sent, with its number spelling, key
 * order and unknown members. Values are therefore sliced and replaced in the text instead of being parsed and serialized. Callers must pass
 * text that JSON.parse accepts.
 */
const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
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

/** Characters that are scanned one by one before a search is used. */
const SHORT_CHARS = 256;

/** Returns the index after the string that starts at `from`. Reads each character at most twice. */
const endOfString = (text: string, from: number): number => {
  let at = from + 1;
  let quote = -1;
  while (at < text.length) {
    for (const short = Math.min(at + SHORT_CHARS, text.length); at < short;) {
      const code = text.charCodeAt(at);
      if (code === QUOTE) return at + 1;
      at += code === BACKSLASH ? 2 : 1;
    }
    if (quote < at) quote = text.indexOf('"', at);
    if (quote < 0) return text.length;
    const escape = text.slice(at, quote).indexOf("\\");
    if (escape < 0) return quote + 1;
    at += escape + 2;
  }
  return at;
};

/** Returns the index after the value that starts at `from`, or the text's length if the value never ends. */
export const endOfValue = (text: string, from: number): number => {
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

/** Number of values in a JSON text: the value itself, each list item and each object member. */
export const valuesIn = (text: string): number => {
  let values = 1;
  let isFirst = false;
  let at = skipSpace(text, 0);
  while (at < text.length) {
    const code = text.charCodeAt(at);
    const closes = code === CLOSE_BRACE || code === CLOSE_BRACKET;
    // A comma precedes every item except the first.
    if (code === COMMA || (isFirst && !closes)) values += 1;
    isFirst = code === OPEN_BRACE || code === OPEN_BRACKET;
    at = skipSpace(text, code === QUOTE ? endOfString(text, at) : at + 1);
  }
  return values;
};

interface Member {
  name: string;
  from: number;
  start: number;
  end: number;
}

const memberPlaces = (text: string): Member[] => {
  const members: Member[] = [];
  let at = skipSpace(text, 0);
  if (text.charCodeAt(at) !== OPEN_BRACE) return members;
  at = skipSpace(text, at + 1);
  while (text.charCodeAt(at) === QUOTE) {
    const nameEnd = endOfString(text, at);
    const start = skipSpace(text, skipSpace(text, nameEnd) + 1);
    const end = endOfValue(text, start);
    members.push({ name: JSON.parse(text.slice(at, nameEnd)) as string, from: at, start, end });
    const next = skipSpace(text, end);
    if (text.charCodeAt(next) !== COMMA) break;
    at = skipSpace(text, next + 1);
  }
  return members;
};

/** Integers with fewer than sixteen digits are exact as doubles. */
const MAYBE_INEXACT = /\d{16}/;
const INTEGER = /^-?\d{16,}$/;
const NUMBER = /[-+.\deE]+/y;

/** True for a JSON integer that a double would round, mostly above 2^53. */
export const isInexactInteger = (text: string): boolean => INTEGER.test(text) && String(Number(text)) !== text;

export const INEXACT_NUMBER = `must be at most ${Number.MAX_SAFE_INTEGER}, the largest integer that a number holds exactly: send larger ones as text`;

/** Quotes each integer that a double would round. */
const withExactIntegers = (text: string): string => {
  const parts: string[] = [];
  let copiedTo = 0;
  for (let at = 0; at < text.length;) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) {
      at = endOfString(text, at);
      continue;
    }
    NUMBER.lastIndex = at;
    const number = NUMBER.exec(text)?.[0] ?? "";
    if (isInexactInteger(number)) {
      parts.push(text.slice(copiedTo, at), `"${number}"`);
      copiedTo = at + number.length;
    }
    at += Math.max(1, number.length);
  }
  return parts.length === 0 ? text : [...parts, text.slice(copiedTo)].join("");
};

/**
 * Parses JSON. An integer that a double would round becomes a text of its digits, so that no digit is lost.
 * @throws SyntaxError for invalid JSON
 */
export const parseExact = (text: string): unknown => {
  const value = JSON.parse(text) as unknown;
  const exact = MAYBE_INEXACT.test(text) ? withExactIntegers(text) : text;
  return exact === text ? value : (JSON.parse(exact) as unknown);
};

/** Members of an object as JSON texts. If a name is repeated, the last member applies, as in JSON.parse. Empty for other values. */
export const members = (text: string): Map<string, string> =>
  new Map(memberPlaces(text).map(({ name, start, end }) => [name, text.slice(start, end)]));

/** Elements of an array as JSON texts. Empty for other values. */
export const elements = (text: string): string[] => {
  const texts: string[] = [];
  let at = skipSpace(text, 0);
  if (text.charCodeAt(at) !== OPEN_BRACKET) return texts;
  at = skipSpace(text, at + 1);
  while (at < text.length && text.charCodeAt(at) !== CLOSE_BRACKET) {
    const end = endOfValue(text, at);
    texts.push(text.slice(at, end));
    const next = skipSpace(text, end);
    if (text.charCodeAt(next) !== COMMA) break;
    at = skipSpace(text, next + 1);
  }
  return texts;
};

const without = (text: string, places: readonly Member[], index: number): string => {
  const [place, previous, next] = [places[index]!, places[index - 1], places[index + 1]];
  if (next) return text.slice(0, place.from) + text.slice(next.from);
  return previous ? text.slice(0, previous.end) + text.slice(place.end) : text.slice(0, place.from) + text.slice(place.end);
};

const removeMember = (text: string, name: string): string => {
  let rest = text;
  for (;;) {
    const places = memberPlaces(rest);
    const index = places.findIndex((place) => place.name === name);
    if (index < 0) return rest;
    rest = without(rest, places, index);
  }
};

const appendMember = (text: string, name: string, value: string): string => {
  const places = memberPlaces(text);
  const last = places.at(-1);
  const member = `${JSON.stringify(name)}:${value}`;
  if (last) return `${text.slice(0, last.end)},${member}${text.slice(last.end)}`;
  const open = text.indexOf("{");
  return open < 0 ? `{${member}}` : `${text.slice(0, open + 1)}${member}${text.slice(open + 1)}`;
};

/**
 * Replaces, adds or (with `undefined`) removes one member at any depth. Everything else stays unchanged. Missing objects on the path are
 * created; other values on the path are replaced.
 */
export const withMember = (text: string, path: readonly string[], value: string | undefined): string => {
  const [name, ...rest] = path;
  if (name === undefined) return value ?? "null";
  const place = memberPlaces(text).findLast((one) => one.name === name);
  if (value === undefined && rest.length === 0) return removeMember(text, name);
  const old = place ? text.slice(place.start, place.end) : "";
  const isObject = old.startsWith("{");
  if (value === undefined && !isObject) return text;
  const replaced = rest.length === 0 ? value! : withMember(isObject ? old : "{}", rest, value);
  return place ? text.slice(0, place.start) + replaced + text.slice(place.end) : appendMember(text, name, replaced);
};
