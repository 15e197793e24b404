import { member } from "../values/value";
import { tokenCostMicroUsd } from "../../credits/money";
import { isRecord } from "../types";

/** Unit prices in micro-dollars, and the schema properties for the number of units. */

export type UnitPrice =
  | { basis: "run"; microUsd: number }
  | { basis: "image"; microUsd: number }
  | { basis: "second"; microUsd: number }
  | { basis: "megapixel"; microUsd: number }
  /** Price per thousand characters of the prompt. The number of characters isn't rounded. */
  | { basis: "characters"; microUsdPerThousand: number }
  | { basis: "tokens"; inputMicroUsdPerMillion: number; outputMicroUsdPerMillion: number };

/** Names of the inputs that prices depend on, used by every registry entry. */
export const PRICED_INPUTS = { image: "count", second: "seconds", megapixel: "count", tokens: "maxTokens", characters: "prompt" } as const;

export type JsonSchema = Readonly<Record<string, unknown>>;

export const propertySchema = (schema: JsonSchema, name: string): JsonSchema | undefined => {
  const properties = isRecord(schema.properties) ? schema.properties : {};
  const property = member(properties, name);
  return isRecord(property) ? property : undefined;
};

/** A number that a price depends on: the input, the schema's default, or 1. */
export const quantity = (schema: JsonSchema, name: string, inputs: Readonly<Record<string, unknown>>): number => {
  const inputQuantity = member(inputs, name);
  if (typeof inputQuantity === "number" && Number.isFinite(inputQuantity) && inputQuantity > 0) return inputQuantity;
  const fallback = propertySchema(schema, name)?.default;
  return typeof fallback === "number" ? fallback : 1;
};

/** Upper bound on a quantity that is unknown until the run: the schema's maximum. */
export const largestQuantity = (schema: JsonSchema, name: string): number => {
  const { maximum } = propertySchema(schema, name) ?? {};
  return typeof maximum === "number" ? maximum : quantity(schema, name, {});
};

/** Upper bound on the prompt's characters, from the schema. */
export const mostCharacters = (schema: JsonSchema): number => Number(propertySchema(schema, PRICED_INPUTS.characters)?.maxLength ?? 0);

const THOUSAND = 1_000;

/** Quantities of a call. `files` is 1 for calls that return only text. */
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
