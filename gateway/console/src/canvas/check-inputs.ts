import { Validator } from "@cfworker/json-schema";
import type { JsonSchema } from "@nodeloom/kernel/graph";

export interface InputProblem {
  /** Dotted, from the inputs on: `prompt`. */
  path: string;
  message: string;
}

type OutputUnit = ReturnType<Validator["validate"]>["errors"][number];

const MOST = 20;
/** Errors that only repeat what those inside them say. */
const WRAPPERS: ReadonlySet<string> = new Set([
  "properties",
  "items",
  "allOf",
  "anyOf",
  "oneOf",
  "additionalProperties",
  "prefixItems",
  "patternProperties",
]);
const TYPES: Readonly<Record<string, string>> = {
  object: "an object",
  array: "a list",
  string: "text",
  boolean: "true or false",
  integer: "a whole number",
  number: "a number",
};

const count = (least: string, things: string) => (limit: string) => `must have at ${least} ${limit} ${things}`;
const someOf = (things: string) => (limit: string) => (limit === "1" ? "must not be empty" : count("least", things)(limit));
/** Words for what a keyword demands, by its limit. */
const DEMANDS: Readonly<Record<string, (limit: string) => string>> = {
  minimum: (limit) => `must be at least ${limit}`,
  maximum: (limit) => `must be at most ${limit}`,
  exclusiveMinimum: (limit) => `must be above ${limit}`,
  exclusiveMaximum: (limit) => `must be below ${limit}`,
  minLength: someOf("characters"),
  maxLength: count("most", "characters"),
  minItems: someOf("items"),
  maxItems: count("most", "items"),
};
/** The number that a complaint ends with. */
const LIMIT = /(-?[\d.e+-]+?)\)?\.$/;
const CHOICES = /\[.*\]/s;

const quoted = (text: string): string[] => [...text.matchAll(/"((?:[^"\\]|\\.)*)"/g)].map(([, inner]) => inner!);

/** A keyword's complaint in the words of the service. */
const worded = ({ keyword, instanceLocation, error }: OutputUnit): InputProblem => {
  const path = instanceLocation
    .split("/")
    .slice(1)
    .map((part) => part.replaceAll("~1", "/").replaceAll("~0", "~"));
  switch (keyword) {
    case "required":
      return { path: [...path, quoted(error)[0] ?? ""].join("."), message: "is required" };
    case "false":
      return { path: path.join("."), message: "is not an input of this model" };
    case "type": {
      const expected = quoted(error).at(-1) ?? "";
      return { path: path.join("."), message: `must be ${TYPES[expected] ?? expected}` };
    }
    case "enum": {
      const choices = JSON.parse(CHOICES.exec(error)?.[0] ?? "[]") as unknown[];
      return { path: path.join("."), message: `must be one of: ${choices.join(", ")}` };
    }
    default: {
      const [limit, demand] = [LIMIT.exec(error)?.[1], DEMANDS[keyword]];
      return { path: path.join("."), message: demand && limit !== undefined ? demand(limit) : error.replace(/\.$/, "") };
    }
  }
};

/** Checks inputs by interpreting a JSON schema: nothing is compiled, which the page's security policy would refuse. */
export const createInputCheck = (schema: JsonSchema): ((inputs: Readonly<Record<string, unknown>>) => InputProblem[]) => {
  let validator: Validator | undefined;
  return (inputs) => {
    validator ??= new Validator(schema, "2020-12", false);
    const { valid, errors } = validator.validate(inputs);
    return valid
      ? []
      : errors
          .filter(({ keyword }) => !WRAPPERS.has(keyword))
          .slice(0, MOST)
          .map(worded);
  };
};
