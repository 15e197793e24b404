import { member } from "../values/value";
import type { Megapixels } from "./megapixels";
import { propertySchema, type JsonSchema, type UnitPrice } from "./unit";

/** Prices that depend on inputs, as a table of conditional rows with factors. */

export type Scalar = string | number | boolean;
/** A required value, a list of allowed values, whether the input is set, or a maximum. */
export type Condition = Scalar | readonly Scalar[] | { readonly given: boolean } | { readonly atMost: number };
/** Conditions by input name. All of them must match. */
export type Conditions = Readonly<Record<string, Condition>>;

export interface PriceRow {
  /** Conditions of the row. Without them, the row always matches. */
  when?: Conditions | undefined;
  price: UnitPrice;
}

export interface PriceFactor {
  when: Conditions;
  times: number;
}

/** A cost item in a provider's response, as a count and a unit price. */
export interface AnswerCost {
  /** JSON pointer into the response. */
  at: string;
  microUsdEach: number;
}

/** The price is the first matching row, multiplied by every matching factor. */
export interface TablePrice {
  basis: "table";
  /** Rows in order of precedence. The last one has no conditions. */
  rows: readonly PriceRow[];
  factors?: readonly PriceFactor[] | undefined;
  megapixels?: Megapixels | undefined;
  /** Cost items in the response. The actual cost replaces the table's price. */
  actual?: readonly AnswerCost[] | undefined;
}

export interface KnownInputs {
  schema: JsonSchema;
  inputs: Readonly<Record<string, unknown>>;
  unknown: ReadonlySet<string>;
}

const isGivenTest = (condition: Condition): condition is { given: boolean } =>
  typeof condition === "object" && !Array.isArray(condition) && "given" in condition;
const isBound = (condition: Condition): condition is { atMost: number } =>
  typeof condition === "object" && !Array.isArray(condition) && "atMost" in condition;

/** Returns whether the condition matches; undefined if the input is unknown. */
const isMet = (condition: Condition, name: string, { schema, inputs, unknown }: KnownInputs): boolean | undefined => {
  if (unknown.has(name)) return undefined;
  const value = member(inputs, name) ?? propertySchema(schema, name)?.default;
  if (isGivenTest(condition)) return condition.given === (value !== undefined && value !== "");
  if (isBound(condition)) return typeof value === "number" && value <= condition.atMost;
  return [condition].flat().includes(value as Scalar);
};

const areMet = (conditions: Conditions = {}, knownInputs: KnownInputs): boolean | undefined => {
  const results = Object.entries(conditions).map(([name, condition]) => isMet(condition, name, knownInputs));
  if (results.includes(false)) return false;
  return results.includes(undefined) ? undefined : true;
};

/** Rows that can apply; exactly one if all inputs are known. */
export const possibleRows = ({ rows }: TablePrice, knownInputs: KnownInputs): UnitPrice[] => {
  const possible: UnitPrice[] = [];
  for (const { when, price } of rows) {
    const isMatch = areMet(when, knownInputs);
    if (isMatch !== false) possible.push(price);
    if (isMatch === true) break;
  }
  return possible;
};

/** Upper bound on the product of factors. */
export const factorOf = ({ factors = [] }: TablePrice, knownInputs: KnownInputs): number =>
  factors.reduce((product, { when, times }) => {
    const isMatch = areMet(when, knownInputs);
    return isMatch === false ? product : product * (isMatch ? times : Math.max(1, times));
  }, 1);

export const conditionInputs = ({ rows, factors = [] }: TablePrice): string[] => [
  ...new Set([...rows, ...factors].flatMap(({ when = {} }) => Object.keys(when))),
];

const conditionProblem = (schema: JsonSchema, name: string, condition: Condition): string | undefined => {
  const property = propertySchema(schema, name);
  if (!property) return `there is no input "${name}"`;
  if (isGivenTest(condition)) return undefined;
  const isRequired = Array.isArray(schema.required) && schema.required.includes(name);
  if (property.default === undefined && !isRequired)
    return `the input "${name}" must be required or have a default: otherwise the provider chooses what it costs`;
  if (isBound(condition))
    return property.type === "integer" || property.type === "number" ? undefined : `the input "${name}" isn't a number`;
  const listed = Array.isArray(property.enum) ? (property.enum as unknown[]) : undefined;
  const strange = [condition].flat().find((value) => {
    if (listed) return !listed.includes(value);
    return property.type !== (typeof value === "number" && property.type === "integer" ? "integer" : typeof value);
  });
  return strange === undefined ? undefined : `the input "${name}" is never ${JSON.stringify(strange)}`;
};

/** The reason why the model's inputs can't decide a table's conditions, or undefined. */
export const tableProblem = ({ rows, factors = [] }: TablePrice, schema: JsonSchema): string | undefined => {
  if (rows.at(-1)?.when !== undefined) return "table: its last row can't have conditions";
  const unreachable = rows.findIndex(({ when }, index) => when === undefined && index < rows.length - 1);
  if (unreachable >= 0) return `table/${unreachable + 1} is never reached, because the row before it has no conditions`;
  for (const [place, list] of [
    ["table", rows],
    ["factors", factors],
  ] as const)
    for (const [index, { when = {} }] of list.entries())
      for (const [name, condition] of Object.entries(when)) {
        const problem = conditionProblem(schema, name, condition);
        if (problem !== undefined) return `${place}/${index}/when/${name}: ${problem}`;
      }
  return undefined;
};
