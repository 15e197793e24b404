import { tokenCostMicroUsd } from "../../money";
import { isRecord } from "../types";

/** What calls cost: by their inputs before a run, by what they used after it, and by the saved graph alone. */

/** Wholesale price of one call of a model. */
export type Price =
  | { basis: "run"; microUsd: number }
  | { basis: "image"; microUsd: number }
  | { basis: "second"; microUsd: number }
  /** Per thousand characters of the prompt, each of them counted. */
  | { basis: "characters"; microUsdPerThousand: number }
  | { basis: "tokens"; inputMicroUsdPerMillion: number; outputMicroUsdPerMillion: number };

/** The inputs that prices depend on, by the names every registry entry uses for them. */
export const PRICED_INPUTS = { image: "count", second: "seconds", tokens: "maxTokens", characters: "prompt" } as const;

/** On a media input of a token-priced model: the most tokens its provider counts for one file. */
export const FILE_TOKENS_KEYWORD = "x-tokens";

export type JsonSchema = Readonly<Record<string, unknown>>;

/** The schema of one input of a model, or undefined. */
export const propertySchema = (schema: JsonSchema, name: string): JsonSchema | undefined => {
  const properties = isRecord(schema.properties) ? schema.properties : {};
  const property = Object.hasOwn(properties, name) ? properties[name] : undefined;
  return isRecord(property) ? property : undefined;
};

/** A number that a price depends on: the given one, else the schema's default, else 1. */
const quantity = (schema: JsonSchema, name: string, inputs: Readonly<Record<string, unknown>>): number => {
  const given = inputs[name];
  if (typeof given === "number" && Number.isFinite(given) && given > 0) return given;
  const fallback = propertySchema(schema, name)?.default;
  return typeof fallback === "number" ? fallback : 1;
};

const THOUSAND = 1_000;
const characterCost = (characters: number, microUsdPerThousand: number): number => Math.ceil((characters * microUsdPerThousand) / THOUSAND);

/** Characters as people count them, and as a schema's maxLength does: not in UTF-16 units. */
export const characterCount = (text: string): number => {
  let count = 0;
  for (const _character of text) count += 1;
  return count;
};

/** The most characters that the schema lets a prompt have. */
const mostCharacters = (schema: JsonSchema): number => Number(propertySchema(schema, PRICED_INPUTS.characters)?.maxLength ?? 0);

/** The same for an input whose value is known only at run time: the schema's maximum. */
const largestQuantity = (schema: JsonSchema, name: string): number => {
  const { maximum } = propertySchema(schema, name) ?? {};
  return typeof maximum === "number" ? maximum : quantity(schema, name, {});
};

export const outputCount = (schema: JsonSchema, inputs: Readonly<Record<string, unknown>>): number =>
  propertySchema(schema, PRICED_INPUTS.image) ? quantity(schema, PRICED_INPUTS.image, inputs) : 1;

/**
 * Inputs as they are sent: numbers that the price counts are said even where they are left out. A provider's own default
 * could be more than what was paid for.
 */
export const pricedInputs = (price: Price, schema: JsonSchema, inputs: Readonly<Record<string, unknown>>): Record<string, unknown> => {
  if (price.basis === "run" || price.basis === "characters") return { ...inputs };
  const name = PRICED_INPUTS[price.basis];
  const fallback = propertySchema(schema, name)?.default;
  return inputs[name] === undefined && typeof fallback === "number" ? { ...inputs, [name]: fallback } : { ...inputs };
};

export interface WorstCase {
  price: Price;
  schema: JsonSchema;
  /** Inputs known before the run. */
  inputs: Readonly<Record<string, unknown>>;
  unknown: ReadonlySet<string>;
  /** Upper bound of the tokens that go in. */
  inputTokens: number;
  /** Characters of the prompt, where they are known without it. */
  characters?: number | undefined;
}

/** The most one call can cost, in micro-dollars. */
export const worstCaseMicroUsd = ({ price, schema, inputs, unknown, inputTokens, characters }: WorstCase): number => {
  const most = (name: string): number => (unknown.has(name) ? largestQuantity(schema, name) : quantity(schema, name, inputs));
  switch (price.basis) {
    case "run":
      return price.microUsd;
    case "image":
      return Math.ceil(price.microUsd * most(PRICED_INPUTS.image));
    case "second":
      return Math.ceil(price.microUsd * most(PRICED_INPUTS.second));
    case "characters": {
      const prompt = unknown.has(PRICED_INPUTS.characters) ? undefined : inputs[PRICED_INPUTS.characters];
      const said = typeof prompt === "string" ? characterCount(prompt) : characters;
      return characterCost(said ?? mostCharacters(schema), price.microUsdPerThousand);
    }
    case "tokens":
      return (
        tokenCostMicroUsd(inputTokens, price.inputMicroUsdPerMillion) +
        tokenCostMicroUsd(most(PRICED_INPUTS.tokens), price.outputMicroUsdPerMillion)
      );
  }
};

export interface Consumption {
  /** Files the call delivered. */
  outputs: number;
  inputTokens?: number;
  outputTokens?: number;
}

/** What one completed call did cost, in micro-dollars. */
export const actualMicroUsd = (price: Price, schema: JsonSchema, inputs: Readonly<Record<string, unknown>>, used: Consumption): number => {
  switch (price.basis) {
    case "run":
      return price.microUsd;
    case "image":
      return Math.ceil(price.microUsd * Math.min(used.outputs, quantity(schema, PRICED_INPUTS.image, inputs)));
    case "second":
      return Math.ceil(price.microUsd * quantity(schema, PRICED_INPUTS.second, inputs));
    case "characters": {
      const prompt = inputs[PRICED_INPUTS.characters];
      return characterCost(typeof prompt === "string" ? characterCount(prompt) : 0, price.microUsdPerThousand);
    }
    case "tokens":
      return (
        tokenCostMicroUsd(used.inputTokens ?? 0, price.inputMicroUsdPerMillion) +
        tokenCostMicroUsd(used.outputTokens ?? 0, price.outputMicroUsdPerMillion)
      );
  }
};
