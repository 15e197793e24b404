/**
 * Lossless JSON. Saved workflow members must return exactly as they were sent (number spelling, key order, duplicate keys, `__proto__`), so
 * they are passed on as slices of the text, never as parsed values.
 */

/** A JSON text written into a reply unchanged. */
export class RawJson {
  constructor(readonly text: string) {}
}

/** A stored JSON text, or its default. */
export const raw = (text: string, absent = "null"): RawJson => new RawJson(text === "" ? absent : text);

/** Member names repeat in every row of every list, so they are cached. */
const quotedNames = new Map<string, string>();
const MAX_QUOTED_NAMES = 1_000;

const quotedName = (name: string): string => {
  const cachedName = quotedNames.get(name);
  if (cachedName !== undefined) return cachedName;
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

/** Serializes a value that may contain RawJson. Undefined members are left out. */
export const toJson = (value: unknown): string => {
  if (typeof value === "boolean") return value ? "true" : "false";
  if (value === null || typeof value !== "object" || value instanceof Date) return JSON.stringify(value) ?? "null";
  if (value instanceof RawJson) return value.text;
  return Array.isArray(value) ? listJson(value) : objectJson(value);
};
