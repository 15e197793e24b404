import { parseExact } from "@nodeloom/kernel/json-text";

/** Parses JSON with `parseExact`. Returns undefined for text that isn't JSON. */
export const readJson = (text: string): { value: unknown } | undefined => {
  try {
    return { value: parseExact(text) };
  } catch {
    return undefined;
  }
};

/** Matches an array index: digits without a leading zero. `length`, a property of arrays, doesn't match. */
const ELEMENT = /^(0|[1-9]\d*)$/;

/**
 * Evaluates JSON pointers (RFC 6901), in which `*` additionally means every element of an array.
 * @returns all matching values in order
 */
export const pointerAll = (document: unknown, pointer: string): unknown[] => {
  const tokens = pointer === "" ? [] : pointer.slice(1).split("/");
  return tokens.reduce<unknown[]>(
    (values, token) => {
      const key = token.replaceAll("~1", "/").replaceAll("~0", "~");
      return values.flatMap((value) => {
        if (key === "*") return Array.isArray(value) ? (value as unknown[]) : [];
        if (typeof value !== "object" || value === null || !Object.hasOwn(value, key)) return [];
        if (Array.isArray(value) && !ELEMENT.test(key)) return [];
        return [(value as Record<string, unknown>)[key]];
      });
    },
    [document],
  );
};

/** The first value that a pointer matches, or undefined. */
export const pointer = (document: unknown, path: string): unknown => pointerAll(document, path)[0];

/** All non-empty texts that a pointer matches. */
export const pointerTexts = (document: unknown, path: string): string[] =>
  pointerAll(document, path).filter((value): value is string => typeof value === "string" && value !== "");
