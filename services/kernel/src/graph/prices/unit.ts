import { member } from "../values/value";
import { tokenCostMicroUsd } from "../../money";
import { isRecord } from "../types";

/** What one thing costs that is counted, in micro-dollars, and what models' schemas say of the inputs that count it. */

export type UnitPrice =
  | { basis: "run"; microUsd: number }
  | { basis: "image"; microUsd: number }
  | { basis: "second"; microUsd: number }
  /** Of each image. */
  | { basis: "megapixel"; microUsd: number }
  /** Per thousand characters of the prompt, each of them counted. */
  | { basis: "characters"; microUsdPerThousand: number }
  | { basis: "tokens"; inputMicroUsdPerMillion: number; outputMicroUsdPerMillion: number };

/** The inputs that prices depend on, by the names every registry entry uses for them. */
export const PRICED_INPUTS = { image: "count", second: "seconds", megapixel: "count", tokens: "maxTokens", characters: "prompt" } as const;

export type JsonSchema = Readonly<Record<string, unknown>>;

/** The schema of one input of a model, or undefined. */
export const propertySchema = (schema: JsonSchema, name: string): JsonSchema | undefined => {
  const properties = isRecord(schema.properties) ? schema.properties : {};
  const property = member(properties, name);
  return isRecord(property) ? property : undefined;
};

/** A number that a price depends on: the given one, else the schema's default, else 1. */
export const quantity = (schema: JsonSchema, name: string, inputs: Readonly<Record<string, unknown>>): number => {
  const given = member(inputs, name);
  if (typeof given === "number" && Number.isFinite(given) && given > 0) return given;
  const fallback = propertySchema(schema, name)?.default;
  return typeof fallback === "number" ? fallback : 1;
};

/** The same for an input whose value is known only at run time: the schema's maximum. */
export const largestQuantity = (schema: JsonSchema, name: string): number => {
  const { maximum } = propertySchema(schema, name) ?? {};
  return typeof maximum === "number" ? maximum : quantity(schema, name, {});
};

/** The most characters that the schema lets a prompt have. */
export const mostCharacters = (schema: JsonSchema): number => Number(propertySchema(schema, PRICED_INPUTS.characters)?.maxLength ?? 0);

const THOUSAND = 1_000;

/** What a call has of what prices count. Files where it makes none but text: 1. */
export interface Quantities {
  files(): number;
  seconds(): number;
  megapixels(): number;
  characters(): number;
  inputTokens(): number;
  outputTokens(): number;
}

export const unitCostMicroUsd = (price: UnitPrice, of: Quantities): number => {
  switch (price.basis) {
    case "run":
      return price.microUsd;
    case "image":
      return Math.ceil(price.microUsd * of.files());
    case "second":
      return Math.ceil(price.microUsd * of.seconds());
    case "megapixel":
      return Math.ceil(price.microUsd * of.megapixels() * of.files());
    case "characters":
      return Math.ceil((of.characters() * price.microUsdPerThousand) / THOUSAND);
    case "tokens":
      return (
        tokenCostMicroUsd(of.inputTokens(), price.inputMicroUsdPerMillion) +
        tokenCostMicroUsd(of.outputTokens(), price.outputMicroUsdPerMillion)
      );
  }
};
