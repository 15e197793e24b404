import { member } from "../values/value";
import { megapixelInputs, megapixelsOf } from "./megapixels";
import { conditionInputs, factorOf, possibleRows, type KnownInputs, type TablePrice } from "./table";
import {
  largestQuantity,
  mostCharacters,
  PRICED_INPUTS,
  propertySchema,
  quantity,
  unitCostMicroUsd,
  type JsonSchema,
  type Quantities,
  type UnitPrice,
} from "./unit";

/** Prices of calls: by inputs before a run, by actual usage after it, and estimates from the saved graph. */

export { PRICED_INPUTS, propertySchema, type JsonSchema, type UnitPrice } from "./unit";
export { tableProblem, type AnswerCost, type Condition, type Conditions, type PriceRow, type TablePrice } from "./table";
export { megapixelsProblem, type Megapixels } from "./megapixels";

/** Wholesale price of one call. */
export type Price = UnitPrice | TablePrice;

/** Schema keyword on media inputs of token-priced models. Its value is the provider's maximum of tokens per file. */
export const FILE_TOKENS_KEYWORD = "x-tokens";

/** Counts code points, as JSON Schema's `maxLength` does, not UTF-16 units. */
export const characterCount = (text: string): number => {
  let count = 0;
  for (const _character of text) count += 1;
  return count;
};

export const outputCount = (schema: JsonSchema, inputs: Readonly<Record<string, unknown>>): number =>
  propertySchema(schema, PRICED_INPUTS.image) ? quantity(schema, PRICED_INPUTS.image, inputs) : 1;

export const unitPrices = (price: Price): UnitPrice[] => (price.basis === "table" ? price.rows.map((row) => row.price) : [price]);

export const pricedInputNames = (price: Price): string[] => {
  const counted = unitPrices(price).flatMap(({ basis }) => (basis === "run" ? [] : [PRICED_INPUTS[basis]]));
  const tableInputs = price.basis === "table" ? [...conditionInputs(price), ...megapixelInputs(price.megapixels ?? {})] : [];
  return [...new Set<string>([...counted, ...tableInputs])];
};

/** Adds default values of missing inputs that the price depends on. A provider's own default could cost more than the hold. */
export const pricedInputs = (price: Price, schema: JsonSchema, inputs: Readonly<Record<string, unknown>>): Record<string, unknown> => {
  const missing = pricedInputNames(price).filter((name) => name !== PRICED_INPUTS.characters && member(inputs, name) === undefined);
  const fallbacks = missing.map((name): [string, unknown] => [name, propertySchema(schema, name)?.default]);
  return { ...inputs, ...Object.fromEntries(fallbacks.filter(([, fallback]) => fallback !== undefined)) };
};

/** The cost according to a price; an upper bound if the table's row is unknown. */
const costMicroUsd = (price: Price, of: Quantities, knownInputs: KnownInputs): number => {
  if (price.basis !== "table") return unitCostMicroUsd(price, of);
  const units = possibleRows(price, knownInputs).map((unit) => unitCostMicroUsd(unit, of));
  return Math.ceil(Math.max(0, ...units) * factorOf(price, knownInputs));
};

const sizeOf = (price: Price, { schema, inputs, unknown }: KnownInputs): number =>
  price.basis === "table" && price.megapixels ? megapixelsOf(price.megapixels, schema, inputs, unknown) : 1;

export interface WorstCase {
  price: Price;
  schema: JsonSchema;
  /** Inputs that are known before the run. */
  inputs: Readonly<Record<string, unknown>>;
  unknown: ReadonlySet<string>;
  /** Upper bound on the input tokens. */
  inputTokens: number;
  /** Characters of the prompt, if they are known without its text. */
  characters?: number | undefined;
}

/** Upper bound on one call's cost, in micro-dollars. */
export const worstCaseMicroUsd = ({ price, schema, inputs, unknown, inputTokens, characters }: WorstCase): number => {
  const most = (name: string): number => (unknown.has(name) ? largestQuantity(schema, name) : quantity(schema, name, inputs));
  const knownInputs = { schema, inputs, unknown };
  return costMicroUsd(
    price,
    {
      files: () => most(PRICED_INPUTS.image),
      seconds: () => most(PRICED_INPUTS.second),
      megapixels: () => sizeOf(price, knownInputs),
      characters: () => {
        const prompt = unknown.has(PRICED_INPUTS.characters) ? undefined : inputs[PRICED_INPUTS.characters];
        const promptCharacters = typeof prompt === "string" ? characterCount(prompt) : characters;
        return promptCharacters ?? mostCharacters(schema);
      },
      inputTokens: () => inputTokens,
      outputTokens: () => most(PRICED_INPUTS.tokens),
    },
    knownInputs,
  );
};

export interface Consumption {
  /** Number of files that the call returned. */
  outputs: number;
  inputTokens?: number;
  outputTokens?: number;
  /** Reads the provider's response at a JSON pointer. */
  answer?: (pointer: string) => unknown;
}

/** The cost that the provider's response states, in micro-dollars. Undefined if it is missing or the price doesn't use it. */
export const saidMicroUsd = (price: Price, answer: Consumption["answer"]): number | undefined => {
  if (price.basis !== "table" || !price.actual || !answer) return undefined;
  const reportedCosts = price.actual.flatMap(({ at, microUsdEach }) => {
    const count = answer(at);
    return typeof count === "number" && Number.isFinite(count) && count >= 0 ? [count * microUsdEach] : [];
  });
  return reportedCosts.length === 0 ? undefined : Math.ceil(reportedCosts.reduce((sum, cost) => sum + cost, 0));
};

const NOTHING_UNKNOWN: ReadonlySet<string> = new Set();

/** Cost of a completed call, in micro-dollars. */
export const actualMicroUsd = (price: Price, schema: JsonSchema, inputs: Readonly<Record<string, unknown>>, used: Consumption): number => {
  const reportedCost = saidMicroUsd(price, used.answer);
  if (reportedCost !== undefined) return reportedCost;
  const knownInputs = { schema, inputs, unknown: NOTHING_UNKNOWN };
  return costMicroUsd(
    price,
    {
      files: () => Math.min(used.outputs, quantity(schema, PRICED_INPUTS.image, inputs)),
      seconds: () => quantity(schema, PRICED_INPUTS.second, inputs),
      megapixels: () => sizeOf(price, knownInputs),
      characters: () => {
        const prompt = inputs[PRICED_INPUTS.characters];
        return typeof prompt === "string" ? characterCount(prompt) : 0;
      },
      inputTokens: () => used.inputTokens ?? 0,
      outputTokens: () => used.outputTokens ?? 0,
    },
    knownInputs,
  );
};
