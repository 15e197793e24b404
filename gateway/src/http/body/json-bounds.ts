import { invalidRequest, LIMITS } from "@nodeloom/kernel";

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;
const LAST_SPACE = 0x20;

/** Bytes of a string compared one by one before `indexOf` searches the rest. */
const SHORT_BYTES = 256;

/** Index after the string that starts at `from`. Each byte is read at most twice. */
const endOfString = (bytes: Uint8Array, from: number): number => {
  let at = from + 1;
  let quote = -1;
  while (at < bytes.length) {
    for (const short = Math.min(at + SHORT_BYTES, bytes.length); at < short; at += bytes[at] === BACKSLASH ? 2 : 1)
      if (bytes[at] === QUOTE) return at + 1;
    if (quote < at) quote = bytes.indexOf(QUOTE, at);
    if (quote < 0) return bytes.length + 1;
    const escape = bytes.subarray(at, quote).indexOf(BACKSLASH);
    if (escape < 0) return quote + 1;
    at += escape + 2;
  }
  return at + 1;
};

/**
 * Counts the values and levels of a JSON text without building any. Each list item and object member counts as a value. For malformed text
 * the numbers describe its well-formed beginning.
 */
export const measureJson = (bytes: Uint8Array, maxDepth: number, maxValues: number): "fits" | "too deep" | "too many values" => {
  let depth = 0;
  let values = 1;
  let isFirst = false;
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at]!;
    if (byte <= LAST_SPACE) continue;
    const closes = byte === CLOSE_BRACE || byte === CLOSE_BRACKET;
    // The first item has no comma before it.
    if (byte === COMMA || (isFirst && !closes)) values += 1;
    if (values > maxValues) return "too many values";
    isFirst = byte === OPEN_BRACE || byte === OPEN_BRACKET;
    if (isFirst) depth += 1;
    else if (closes) depth -= 1;
    else if (byte === QUOTE) at = endOfString(bytes, at) - 1;
    if (depth > maxDepth) return "too deep";
  }
  return "fits";
};

/** @throws INVALID_REQUEST for a text that would make too large a structure. */
export const checkJsonBounds = (bytes: Uint8Array, maxValues: number): void => {
  const measure = measureJson(bytes, LIMITS.jsonDepth, maxValues);
  if (measure === "fits") return;
  const message =
    measure === "too deep" ? `the body is nested more than ${LIMITS.jsonDepth} levels deep` : `the body has more than ${maxValues} values`;
  throw invalidRequest([{ path: "", message }]);
};
