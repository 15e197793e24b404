import { parseExact } from "@nodeloom/kernel/json-text";

/** The value of a JSON text, as `parseExact` reads it; undefined for text that isn't JSON. */
export const readJson = (text: string): { value: unknown } | undefined => {
  try {
    return { value: parseExact(text) };
  } catch {
    return undefined;
  }
};

/** Index of an array element: digits without a leading zero. Excludes `length`, which arrays have as a property. */
const ELEMENT = /^(0|[1-9]\d*)$/;

/**
 * JSON pointers (RFC 6901), extended by `*` for every element of an array.
 * @returns every matching value in order
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

/** The first value a pointer reaches, or undefined. */
export const pointer = (document: unknown, path: string): unknown => pointerAll(document, path)[0];

/** Every non-empty text a pointer reaches. */
export const pointerTexts = (document: unknown, path: string): string[] =>
  pointerAll(document, path).filter((value): value is string => typeof value === "string" && value !== "");
