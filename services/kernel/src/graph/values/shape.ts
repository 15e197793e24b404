import { isRecord } from "../types";
import type { JsonSchema } from "../prices/price";

/** Facts about a value, derived from its JSON Schema. */
export type Shape = {
  /** True if the value is neither null nor missing. */
  isThere: boolean;
} & (
  | { kind: "list"; least: number; most: number; item: Shape }
  | { kind: "object"; members: ReadonlyMap<string, Shape> }
  /** Null, text, number or boolean. */
  | { kind: "plain" }
  | { kind: "unknown" }
);

export const UNKNOWN: Shape = { kind: "unknown", isThere: false };
export const PLAIN: Shape = { kind: "plain", isThere: false };

/** Schemas below this depth are treated as unknown. */
const MOST_DEPTH = 16;
const PLAIN_TYPES: ReadonlySet<unknown> = new Set(["string", "number", "integer", "boolean"]);

const count = (value: unknown, otherwise: number): number =>
  typeof value === "number" && Number.isInteger(value) && value >= 0 ? value : otherwise;

/** The shape of values that match a schema. Keywords that it ignores could only narrow the shape. */
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
