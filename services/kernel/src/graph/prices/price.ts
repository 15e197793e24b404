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

/** What calls cost: by their inputs before a run, by what they used after it, and by the saved graph alone. */

export { PRICED_INPUTS, propertySchema, type JsonSchema, type UnitPrice } from "./unit";
export { tableProblem, type AnswerCost, type Condition, type Conditions, type PriceRow, type TablePrice } from "./table";
export { megapixelsProblem, type Megapixels } from "./megapixels";

/** Wholesale price of one call of a model. */
export type Price = UnitPrice | TablePrice;

/** On a media input of a token-priced model: the most tokens its provider counts for one file. */
export const FILE_TOKENS_KEYWORD = "x-tokens";

/** Characters as people count them, and as a schema's maxLength does: not in UTF-16 units. */
export const characterCount = (text: string): number => {
  let count = 0;
  for (const _character of text) count += 1;
  return count;
};

export const outputCount = (schema: JsonSchema, inputs: Readonly<Record<string, unknown>>): number =>
  propertySchema(schema, PRICED_INPUTS.image) ? quantity(schema, PRICED_INPUTS.image, inputs) : 1;

/** Every unit that a price may count. */
export const unitPrices = (price: Price): UnitPrice[] => (price.basis === "table" ? price.rows.map((row) => row.price) : [price]);

/** The inputs that a price depends on. */
export const pricedInputNames = (price: Price): string[] => {
  const counted = unitPrices(price).flatMap(({ basis }) => (basis === "run" ? [] : [PRICED_INPUTS[basis]]));
  const asked = price.basis === "table" ? [...conditionInputs(price), ...megapixelInputs(price.megapixels ?? {})] : [];
  return [...new Set<string>([...counted, ...asked])];
};

/**
 * Inputs as they are sent: what the price depends on is said even where it is left out. A provider's own default
 * could be more than what was paid for.
 */
export const pricedInputs = (price: Price, schema: JsonSchema, inputs: Readonly<Record<string, unknown>>): Record<string, unknown> => {
  const left = pricedInputNames(price).filter((name) => name !== PRICED_INPUTS.characters && member(inputs, name) === undefined);
  const said = left.map((name): [string, unknown] => [name, propertySchema(schema, name)?.default]);
  return { ...inputs, ...Object.fromEntries(said.filter(([, fallback]) => fallback !== undefined)) };
};

/** What a price comes to. Of a table whose row isn't known, the most that it may be. */
const costMicroUsd = (price: Price, of: Quantities, known: KnownInputs): number => {
  if (price.basis !== "table") return unitCostMicroUsd(price, of);
  const units = possibleRows(price, known).map((unit) => unitCostMicroUsd(unit, of));
  return Math.ceil(Math.max(0, ...units) * factorOf(price, known));
};

const sizeOf = (price: Price, { schema, inputs, unknown }: KnownInputs): number =>
  price.basis === "table" && price.megapixels ? megapixelsOf(price.megapixels, schema, inputs, unknown) : 1;

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
  const known = { schema, inputs, unknown };
  return costMicroUsd(
    price,
    {
      files: () => most(PRICED_INPUTS.image),
      seconds: () => most(PRICED_INPUTS.second),
      megapixels: () => sizeOf(price, known),
      characters: () => {
        const prompt = unknown.has(PRICED_INPUTS.characters) ? undefined : inputs[PRICED_INPUTS.characters];
        const said = typeof prompt === "string" ? characterCount(prompt) : characters;
        return said ?? mostCharacters(schema);
      },
      inputTokens: () => inputTokens,
      outputTokens: () => most(PRICED_INPUTS.tokens),
    },
    known,
  );
};

export interface Consumption {
  /** Files the call delivered. */
  outputs: number;
  inputTokens?: number;
  outputTokens?: number;
  /** What the provider's answer has at a JSON pointer. */
  answer?: (pointer: string) => unknown;
}

/** What an answer says that it cost, in micro-dollars; undefined where it doesn't, or the price does not ask. */
export const saidMicroUsd = (price: Price, answer: Consumption["answer"]): number | undefined => {
  if (price.basis !== "table" || !price.actual || !answer) return undefined;
  const said = price.actual.flatMap(({ at, microUsdEach }) => {
    const count = answer(at);
    return typeof count === "number" && Number.isFinite(count) && count >= 0 ? [count * microUsdEach] : [];
  });
  return said.length === 0 ? undefined : Math.ceil(said.reduce((sum, cost) => sum + cost, 0));
};

const NOTHING_UNKNOWN: ReadonlySet<string> = new Set();

/** What one completed call did cost, in micro-dollars. */
export const actualMicroUsd = (price: Price, schema: JsonSchema, inputs: Readonly<Record<string, unknown>>, used: Consumption): number => {
  const said = saidMicroUsd(price, used.answer);
  if (said !== undefined) return said;
  const known = { schema, inputs, unknown: NOTHING_UNKNOWN };
  return costMicroUsd(
    price,
    {
      files: () => Math.min(used.outputs, quantity(schema, PRICED_INPUTS.image, inputs)),
      seconds: () => quantity(schema, PRICED_INPUTS.second, inputs),
      megapixels: () => sizeOf(price, known),
      characters: () => {
        const prompt = inputs[PRICED_INPUTS.characters];
        return typeof prompt === "string" ? characterCount(prompt) : 0;
      },
      inputTokens: () => used.inputTokens ?? 0,
      outputTokens: () => used.outputTokens ?? 0,
    },
    known,
  );
};
