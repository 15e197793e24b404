import { member } from "../values/value";
import type { Megapixels } from "./megapixels";
import { propertySchema, type JsonSchema, type UnitPrice } from "./unit";

/** Prices that depend on a call's inputs: rows with conditions, and factors. */

export type Scalar = string | number | boolean;
/** What an input must be: a value, one of several, there or not, or a number that is no greater. */
export type Condition = Scalar | readonly Scalar[] | { readonly given: boolean } | { readonly atMost: number };
/** By input; all of them must hold. */
export type Conditions = Readonly<Record<string, Condition>>;

export interface PriceRow {
  /** Absent: always. */
  when?: Conditions | undefined;
  price: UnitPrice;
}

/** A multiplication of the price. */
export interface PriceFactor {
  when: Conditions;
  times: number;
}

/** A part of what an answer says that it cost: a number in it, and what each one of that is. */
export interface AnswerCost {
  /** A JSON pointer. */
  at: string;
  microUsdEach: number;
}

/** The first row that holds, times every factor that holds. */
export interface TablePrice {
  basis: "table";
  /** The last one holds always. */
  rows: readonly PriceRow[];
  factors?: readonly PriceFactor[] | undefined;
  megapixels?: Megapixels | undefined;
  /** What calls are charged for where their answers say it, instead of the price. */
  actual?: readonly AnswerCost[] | undefined;
}

/** A call's inputs as far as they are known. */
export interface KnownInputs {
  schema: JsonSchema;
  inputs: Readonly<Record<string, unknown>>;
  unknown: ReadonlySet<string>;
}

const isGivenTest = (condition: Condition): condition is { given: boolean } =>
  typeof condition === "object" && !Array.isArray(condition) && "given" in condition;
const isBound = (condition: Condition): condition is { atMost: number } =>
  typeof condition === "object" && !Array.isArray(condition) && "atMost" in condition;

/** Whether an input is as it must be; undefined while it isn't known. */
const isMet = (condition: Condition, name: string, { schema, inputs, unknown }: KnownInputs): boolean | undefined => {
  if (unknown.has(name)) return undefined;
  const value = member(inputs, name) ?? propertySchema(schema, name)?.default;
  if (isGivenTest(condition)) return condition.given === (value !== undefined && value !== "");
  if (isBound(condition)) return typeof value === "number" && value <= condition.atMost;
  return [condition].flat().includes(value as Scalar);
};

const areMet = (conditions: Conditions = {}, known: KnownInputs): boolean | undefined => {
  const met = Object.entries(conditions).map(([name, condition]) => isMet(condition, name, known));
  if (met.includes(false)) return false;
  return met.includes(undefined) ? undefined : true;
};

/** The rows that a call may come under: one, where everything is known that they ask for. */
export const possibleRows = ({ rows }: TablePrice, known: KnownInputs): UnitPrice[] => {
  const possible: UnitPrice[] = [];
  for (const { when, price } of rows) {
    const met = areMet(when, known);
    if (met !== false) possible.push(price);
    if (met === true) break;
  }
  return possible;
};

/** What the price is multiplied by, at most. */
export const factorOf = ({ factors = [] }: TablePrice, known: KnownInputs): number =>
  factors.reduce((product, { when, times }) => {
    const met = areMet(when, known);
    return met === false ? product : product * (met ? times : Math.max(1, times));
  }, 1);

/** The inputs that conditions ask for. */
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
  if (isBound(condition)) return property.type === "integer" || property.type === "number" ? undefined : `the input "${name}" is no number`;
  const listed = Array.isArray(property.enum) ? (property.enum as unknown[]) : undefined;
  const strange = [condition].flat().find((value) => {
    if (listed) return !listed.includes(value);
    return property.type !== (typeof value === "number" && property.type === "integer" ? "integer" : typeof value);
  });
  return strange === undefined ? undefined : `the input "${name}" is never ${JSON.stringify(strange)}`;
};

/** Why the conditions of a table can't be decided by a model's inputs, or undefined. */
export const tableProblem = ({ rows, factors = [] }: TablePrice, schema: JsonSchema): string | undefined => {
  if (rows.at(-1)?.when !== undefined) return "table: its last row must be without conditions";
  const unreachable = rows.findIndex(({ when }, index) => when === undefined && index < rows.length - 1);
  if (unreachable >= 0) return `table/${unreachable + 1}: is never reached, the row before it has no conditions`;
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
