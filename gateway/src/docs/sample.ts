import type { Operation, Schema } from "./api/document";

/** Example values for JSON Schemas. */

type Schemas = Readonly<Record<string, Schema>>;

export interface SampleOptions {
  schemas: Schemas;
  /** Include optional members. */
  isWhole?: boolean;
}

const MOST_DEPTH = 6;
const ID = "5f0c3f6e-8a44-4a53-9a52-0f6f5f1c2b7d";
const TIME = "2026-05-04T12:00:00.000Z";

/** Example values by member name; used if they fit the schema. */
const BY_NAME: Readonly<Record<string, readonly unknown[]>> = {
  apiKey: ["nl_live_example"],
  code: ["EXECUTION_FAILED"],
  contentType: ["image/png"],
  count: [3],
  credits: [4],
  description: ["Posters in the style of the house"],
  durationMs: [1840],
  email: ["ada@example.com"],
  error: ["the provider answered 500"],
  executionId: [ID],
  height: [1024],
  id: [ID, 42, "poster-maker"],
  internalName: ["sandbox-image"],
  keyId: [ID],
  limit: [50],
  message: ["is required"],
  model: ["sandbox-image"],
  name: ["Poster maker"],
  nodeId: ["poster"],
  page: [1],
  pageSize: [50],
  prompt: ["A lighthouse at dusk"],
  requestId: [ID],
  size: [184213],
  slug: ["poster-maker"],
  status: ["completed"],
  title: ["Poster maker"],
  total: [1],
  url: ["https://media.example.com/m/lighthouse.png"],
  userId: [ID],
  width: [1024],
  workflowSlug: ["poster-maker"],
};
const BY_FORMAT: Readonly<Record<string, string>> = {
  "date-time": TIME,
  email: "ada@example.com",
  uri: "https://media.example.com/m/lighthouse.png",
  uuid: ID,
};
const BY_TYPE: Readonly<Record<string, unknown>> = { string: "…", number: 1, integer: 1, boolean: true, null: null };

const isSchema = (value: Schema | boolean | undefined): value is Schema => typeof value === "object";
const nameOf = (reference: string): string => reference.slice(reference.lastIndexOf("/") + 1);

const fits = (value: unknown, { type, minimum, maximum, minLength, maxLength, format }: Schema): boolean => {
  const types = typeof type === "string" ? [type] : (type ?? []);
  if (typeof value === "string")
    return types.includes("string") && format === undefined && value.length >= (minLength ?? 0) && value.length <= (maxLength ?? Infinity);
  return (
    (types.includes("number") || types.includes("integer")) &&
    Number(value) >= (minimum ?? -Infinity) &&
    Number(value) <= (maximum ?? Infinity)
  );
};

const scalar = (schema: Schema, name: string): unknown => {
  const namedValue = Object.hasOwn(BY_NAME, name) ? BY_NAME[name]!.find((value) => fits(value, schema)) : undefined;
  if (namedValue !== undefined) return namedValue;
  if (schema.format !== undefined && Object.hasOwn(BY_FORMAT, schema.format)) return BY_FORMAT[schema.format];
  if (/At$/.test(name) && fits(TIME, schema)) return TIME;
  const first = typeof schema.type === "string" ? schema.type : schema.type?.[0];
  if (first === "number" || first === "integer") return Math.max(schema.minimum ?? 1, Math.min(1, schema.maximum ?? 1));
  return first === undefined ? {} : BY_TYPE[first];
};

/**
 * A value that a schema accepts: its example, or one from its type and the member's name.
 * @param name name of the member with this schema
 */
export const sampleOf = (schema: Schema, options: SampleOptions, name = "", depth = 0): unknown => {
  const { examples, example = examples?.[0], type } = schema;
  if (example !== undefined) return example;
  if (schema.$ref !== undefined) return sampleOf(options.schemas[nameOf(schema.$ref)] ?? {}, options, name, depth + 1);
  if ("const" in schema) return schema.const;
  if (schema.enum) return name === "status" && schema.enum.includes("completed") ? "completed" : schema.enum[0];
  if ("default" in schema && !options.isWhole) return schema.default;
  if (schema.allOf) return Object.assign({}, ...schema.allOf.map((part) => sampleOf(part, options, name, depth))) as unknown;
  const [variant] = schema.anyOf ?? schema.oneOf ?? [];
  if (variant) return sampleOf(variant, options, name, depth);
  if (type === "array") {
    const hasItem = (schema.minItems ?? 0) > 0 || (options.isWhole && depth < MOST_DEPTH);
    return hasItem && isSchema(schema.items) ? [sampleOf(schema.items, options, name.replace(/s$/, ""), depth + 1)] : [];
  }
  if (type !== "object") return scalar(schema, name);
  const members = Object.entries(schema.properties ?? {}).filter(
    ([member]) => schema.required?.includes(member) || (options.isWhole && depth < MOST_DEPTH),
  );
  return Object.fromEntries(members.map(([member, inner]) => [member, sampleOf(inner, options, member, depth + 1)]));
};

const JSON_TYPE = "application/json";
const SUCCESS = /^2/;

/** Adds examples to successful JSON responses without one. */
export const withExamples = (operation: Operation, schemas: Schemas): Operation => ({
  ...operation,
  responses: Object.fromEntries(
    Object.entries(operation.responses).map(([status, response]) => {
      const json = response.content?.[JSON_TYPE];
      if (!SUCCESS.test(status) || json === undefined || "example" in json) return [status, response];
      const example = sampleOf(json.schema, { schemas, isWhole: true });
      return [status, { ...response, content: { ...response.content, [JSON_TYPE]: { ...json, example } } }];
    }),
  ),
});
