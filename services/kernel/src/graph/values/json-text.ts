import { parseExact } from "../../text/json-text";
import { LIMITS } from "../../limits";

const [QUOTE, BACKSLASH] = [0x22, 0x5c];
const OPENING = new Set([0x5b, 0x7b]);
const CLOSING = new Set([0x5d, 0x7d]);

/** Nesting depth of a JSON text, found without parsing it. */
const depthOf = (text: string): number => {
  let [depth, deepest, inText] = [0, 0, false];
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (inText) {
      if (code === BACKSLASH) at += 1;
      else if (code === QUOTE) inText = false;
    } else if (code === QUOTE) inText = true;
    else if (OPENING.has(code)) deepest = Math.max(deepest, (depth += 1));
    else if (CLOSING.has(code)) depth -= 1;
  }
  return deepest;
};

/** JSON allows numbers of any size. A number too large for a double is read as infinity and then written as null. */
export const hasInfinite = (value: unknown): boolean => {
  if (typeof value === "number") return !Number.isFinite(value);
  return typeof value === "object" && value !== null && Object.values(value).some(hasInfinite);
};

/** Parses JSON with `parseExact`. Returns undefined if it is invalid or too deep. */
export const parseJsonText = (text: string): { value: unknown } | undefined => {
  if (depthOf(text) > LIMITS.jsonDepth) return undefined;
  try {
    return { value: parseExact(text) };
  } catch {
    return undefined;
  }
};
