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
    default:
      return { path: path.join("."), message: error.replace(/\.$/, "") };
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
