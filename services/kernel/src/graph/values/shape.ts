import { isRecord } from "../types";
import type { JsonSchema } from "../prices/price";

/** What a JSON Schema lets one know of a value before it is there. */
export type Shape = {
  /** The value is not null, and not missing. */
  isThere: boolean;
} & (
  | { kind: "list"; least: number; most: number; item: Shape }
  | { kind: "object"; members: ReadonlyMap<string, Shape> }
  /** Null, a text, a number or a boolean. */
  | { kind: "plain" }
  | { kind: "unknown" }
);

export const UNKNOWN: Shape = { kind: "unknown", isThere: false };
export const PLAIN: Shape = { kind: "plain", isThere: false };

/** Deeper parts of a schema say nothing. */
const MOST_DEPTH = 16;
const PLAIN_TYPES: ReadonlySet<unknown> = new Set(["string", "number", "integer", "boolean"]);

const count = (value: unknown, otherwise: number): number =>
  typeof value === "number" && Number.isInteger(value) && value >= 0 ? value : otherwise;

/** What values that fit a schema are like. Keywords that it does not read only narrow what may fit. */
export const shapeOfSchema = (schema: unknown, depth = 0): Shape => {
  if (!isRecord(schema) || depth > MOST_DEPTH) return UNKNOWN;
  const { type } = schema as JsonSchema;
  if (type === "array") {
    const item = schema.prefixItems === undefined ? shapeOfSchema(schema.items, depth + 1) : UNKNOWN;
    return { kind: "list", isThere: true, least: count(schema.minItems, 0), most: count(schema.maxItems, Infinity), item };
  }
  if (type === "object") {
    const required = new Set(Array.isArray(schema.required) ? (schema.required as unknown[]) : []);
    const properties = isRecord(schema.properties) ? Object.entries(schema.properties) : [];
    const members = properties.map(([name, property]): [string, Shape] => {
      const shape = shapeOfSchema(property, depth + 1);
      return [name, required.has(name) ? shape : { ...shape, isThere: false }];
    });
    return { kind: "object", isThere: true, members: new Map(members) };
  }
  return PLAIN_TYPES.has(type) ? { kind: "plain", isThere: true } : UNKNOWN;
};
