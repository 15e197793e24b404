import { FILE_TOKENS_KEYWORD } from "../prices/price";

/** The form that each keyword's value must have. Unlisted keywords are ignored, as JSON Schema specifies. */
export type Shape =
  | "schema"
  | "schemas"
  | "schemasByName"
  | "schemasByPattern"
  | "number"
  | "positive"
  | "count"
  | "boolean"
  | "types"
  | "values"
  | "value"
  | "names"
  | "namesByName"
  | "pattern"
  | "text"
  | "reference"
  | "list"
  | "dialect"
  | "refused";

export const KEYWORDS: Readonly<Record<string, Shape>> = {
  $ref: "reference",
  $defs: "schemasByName",
  definitions: "schemasByName",
  type: "types",
  enum: "values",
  const: "value",
  allOf: "schemas",
  anyOf: "schemas",
  oneOf: "schemas",
  not: "schema",
  if: "schema",
  then: "schema",
  else: "schema",
  minimum: "number",
  maximum: "number",
  exclusiveMinimum: "number",
  exclusiveMaximum: "number",
  multipleOf: "positive",
  minLength: "count",
  maxLength: "count",
  pattern: "pattern",
  format: "text",
  items: "schema",
  prefixItems: "schemas",
  contains: "schema",
  minContains: "count",
  maxContains: "count",
  minItems: "count",
  maxItems: "count",
  uniqueItems: "boolean",
  properties: "schemasByName",
  patternProperties: "schemasByPattern",
  additionalProperties: "schema",
  propertyNames: "schema",
  required: "names",
  minProperties: "count",
  maxProperties: "count",
  dependentRequired: "namesByName",
  dependentSchemas: "schemasByName",
  unevaluatedItems: "refused",
  unevaluatedProperties: "refused",
  $dynamicRef: "refused",
  $recursiveRef: "refused",
  $anchor: "refused",
  $dynamicAnchor: "refused",
};

/** Keywords that don't constrain values. A strict check rejects all other unlisted keywords. */
export const ANNOTATIONS: Readonly<Record<string, Shape>> = {
  $schema: "dialect",
  $id: "text",
  $comment: "text",
  title: "text",
  description: "text",
  default: "value",
  examples: "list",
  deprecated: "boolean",
  readOnly: "boolean",
  writeOnly: "boolean",
  contentEncoding: "text",
  contentMediaType: "text",
  contentSchema: "value",
  "x-mask": "boolean",
  [FILE_TOKENS_KEYWORD]: "number",
};

export const TYPE_NAMES = ["object", "array", "string", "number", "integer", "boolean", "null"] as const;
