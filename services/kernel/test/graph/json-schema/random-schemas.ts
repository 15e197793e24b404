import fc from "fast-check";
import type { JsonSchema } from "@nodeloom/kernel";

/** Random schemas over every supported keyword, with values that some of them accept. */

const name = fc.constantFrom("a", "b", "c");
const scalar = fc.oneof(
  fc.integer({ min: -3, max: 6 }),
  fc.constantFrom("", "x", "abc", "ünï"),
  fc.boolean(),
  fc.constant(null),
  fc.constant(1.5),
);
export const value = fc.letrec((tie) => ({
  any: fc.oneof(
    { maxDepth: 3 },
    scalar,
    fc.array(tie("any"), { maxLength: 4 }),
    fc.dictionary(name, tie("any"), { maxKeys: 3, noNullPrototype: true }),
  ),
})).any;
const PLAIN = { noNullPrototype: true };
const small = fc.nat(3);
export const schema = fc.letrec<{ any: JsonSchema }>((tie) => {
  const inner = tie("any");
  const one = <T>(key: string, of: fc.Arbitrary<T>): fc.Arbitrary<JsonSchema> => of.map((fieldSchema) => ({ [key]: fieldSchema }));
  const keyword = fc.oneof(
    { maxDepth: 3 },
    one("type", fc.constantFrom("object", "array", "string", "number", "integer", "boolean", "null")),
    one("type", fc.uniqueArray(fc.constantFrom("string", "integer", "null"), { minLength: 1 })),
    ...["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"].map((key) => one(key, small)),
    ...["minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties"].map((key) => one(key, small)),
    one("multipleOf", fc.constantFrom(1, 2, 0.5)),
    one("pattern", fc.constantFrom("^a", "x", "^[a-c]+$")),
    one("enum", fc.uniqueArray(value, { minLength: 1, maxLength: 3, selector: (fieldValue) => JSON.stringify(fieldValue) })),
    one("const", value),
    one("uniqueItems", fc.boolean()),
    one("required", fc.uniqueArray(name)),
    one("items", inner),
    one("prefixItems", fc.array(inner, { minLength: 1, maxLength: 2 })),
    one("contains", inner),
    one("properties", fc.dictionary(name, inner, PLAIN)),
    one("patternProperties", fc.dictionary(fc.constantFrom("^a", "b|c"), inner, PLAIN)),
    one("additionalProperties", fc.oneof(fc.boolean(), inner)),
    one("propertyNames", inner),
    one("dependentRequired", fc.dictionary(name, fc.uniqueArray(name), PLAIN)),
    one("dependentSchemas", fc.dictionary(name, inner, PLAIN)),
    ...["allOf", "anyOf", "oneOf"].map((key) => one(key, fc.array(inner, { minLength: 1, maxLength: 3 }))),
    one("not", inner),
    fc.tuple(inner, inner, inner).map(([test, then, otherwise]) => ({ if: test, then, else: otherwise })),
    fc.constant({ $ref: "#/$defs/shared" }),
  );
  return { any: fc.array(keyword, { maxLength: 3 }).map((parts): JsonSchema => Object.assign({}, ...parts) as JsonSchema) };
}).any;
