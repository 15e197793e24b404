import { isRecord, type JsonSchema } from "@nodeloom/kernel";

/** Schemas for Anthropic's structured outputs. Objects are closed and unsupported keywords are removed. */

/** Keywords that structured outputs support (platform.claude.com/docs/en/build-with-claude/structured-outputs). */
const KEYWORDS = new Set(
  "type title description properties required additionalProperties items minItems enum const anyOf allOf $ref $defs format default".split(
    " ",
  ),
);
const FORMATS = new Set("date-time time date duration email hostname uri ipv4 ipv6 uuid".split(" "));
const MOST_MIN_ITEMS = 1;
/** Keywords that don't constrain answers. */
const IGNORED = new Set(["$schema", "$id", "$comment", "examples"]);

class Inexpressible extends Error {}

const eachOf = (value: unknown): Record<string, unknown> => {
  if (!isRecord(value)) throw new Inexpressible();
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, closed(member)]));
};
const listOf = (value: unknown): unknown[] => {
  if (!Array.isArray(value)) throw new Inexpressible();
  return value.map(closed);
};

const keyword = (name: string, value: unknown): unknown => {
  switch (name) {
    case "properties":
    case "$defs":
      return eachOf(value);
    case "anyOf":
    case "allOf":
      return listOf(value);
    case "items":
      return closed(value);
    case "format":
      if (!FORMATS.has(String(value))) throw new Inexpressible();
      return value;
    case "minItems":
      if (typeof value !== "number" || value > MOST_MIN_ITEMS) throw new Inexpressible();
      return value;
    default:
      if (!KEYWORDS.has(name)) throw new Inexpressible();
      return value;
  }
};

const closed = (schema: unknown): JsonSchema => {
  if (!isRecord(schema)) throw new Inexpressible();
  const keywords = Object.entries(schema).filter(([name]) => !IGNORED.has(name));
  const same = Object.fromEntries(keywords.map(([name, value]) => [name, keyword(name, value)]));
  if (schema.type !== "object") return same;
  // An object with arbitrary members, or with members defined by a schema, can't be closed.
  if (!isRecord(schema.properties) || isRecord(schema.additionalProperties)) throw new Inexpressible();
  return { ...same, additionalProperties: false };
};

/**
 * Converts a schema for the API's structured outputs, which allow only closed objects. An open object becomes a closed object. Every answer
 * that matches the closed object also matches the open one.
 * @returns undefined if the schema can't be converted
 */
export const closedSchema = (schema: JsonSchema): JsonSchema | undefined => {
  try {
    return closed(schema);
  } catch (error) {
    if (error instanceof Inexpressible) return undefined;
    throw error;
  }
};
