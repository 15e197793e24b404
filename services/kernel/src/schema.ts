import type { ErrorObject } from "ajv";
import type Ajv2020 from "ajv/dist/2020";
import type { Issue } from "./errors";
import type { JsonSchema } from "./graph/prices/price";

const MAX_ISSUES = 20;

/** Loaded with the first schema: it is most of what the kernel weighs, and few processes compile one. */
const createAjv = (): Ajv2020 => {
  const { default: Compiler } = require("ajv/dist/2020") as typeof import("ajv/dist/2020");
  const { default: addFormats } = require("ajv-formats") as typeof import("ajv-formats");
  // JSON takes numbers that no double holds; they are infinite once read.
  const ajv = new Compiler({ allErrors: true, strict: false, strictNumbers: true, useDefaults: false });
  addFormats(ajv);
  // A file: an http(s) URL, a data URL or a media id; which of them is checked where it is resolved.
  ajv.addFormat("media", { type: "string", validate: (value: string) => value.length > 0 });
  return ajv;
};

const TYPES: Readonly<Record<string, string>> = {
  object: "an object",
  array: "a list",
  string: "text",
  boolean: "true or false",
  integer: "a whole number",
  number: "a number",
};

/** A keyword's bound in words, as everywhere else in this API. */
const inWords = ({ keyword, params, message }: ErrorObject): string => {
  const { type, limit } = params as { type?: string | string[]; limit?: number };
  switch (keyword) {
    case "type":
      return `must be ${[type]
        .flat()
        .map((name) => TYPES[String(name)] ?? String(name))
        .join(" or ")}`;
    case "minimum":
      return `must be at least ${limit}`;
    case "maximum":
      return `must be at most ${limit}`;
    case "exclusiveMinimum":
      return `must be above ${limit}`;
    case "exclusiveMaximum":
      return `must be below ${limit}`;
    case "minLength":
      return limit === 1 ? "must not be empty" : `must have at least ${limit} characters`;
    case "maxLength":
      return `must have at most ${limit} characters`;
    case "minItems":
      return limit === 1 ? "must not be empty" : `must have at least ${limit} items`;
    case "maxItems":
      return `must have at most ${limit} items`;
    default:
      return message ?? "is not valid";
  }
};

const describe = (error: ErrorObject): Issue => {
  const at = error.instancePath.slice(1).replaceAll("/", ".");
  const property = error.params as { additionalProperty?: string; missingProperty?: string; allowedValues?: unknown[] };
  if (property.additionalProperty !== undefined)
    return { path: [at, property.additionalProperty].filter(Boolean).join("."), message: "is not an input of this model" };
  if (property.missingProperty !== undefined)
    return { path: [at, property.missingProperty].filter(Boolean).join("."), message: "is required" };
  if (property.allowedValues) return { path: at, message: `must be one of: ${property.allowedValues.join(", ")}` };
  return { path: at, message: inWords(error) };
};

/**
 * Compiles a JSON Schema (2020-12) into a check that lists every problem of a value.
 * @throws Error when the schema itself is not valid.
 */
export const compileSchema = (schema: JsonSchema): ((value: unknown) => Issue[]) => {
  const validate = createAjv().compile(schema);
  return (value) => (validate(value) ? [] : (validate.errors ?? []).slice(0, MAX_ISSUES).map(describe));
};
