import { INEXACT_NUMBER, isInexactInteger } from "../../text/json-text";
import { charactersOfWork, elementsOfWork, type RunBudget } from "../budget";
import { characterCount } from "../prices/price";
import { isRecord } from "../types";
import { shownName } from "../../text/shown-name";
import {
  atLeast,
  atLeastSome,
  atMost,
  bound,
  canonical,
  enter,
  isValid,
  matches,
  meantOf,
  report,
  type Check,
  type Keyword,
} from "./check";
import { referenced } from "./reference";

const SHOWN_VALUES = 50;
/** Floating-point tolerance of `multipleOf`. */
const TOLERANCE = 1e-9;

const TYPE_OF: Readonly<Record<string, (value: unknown) => boolean>> = {
  object: isRecord,
  array: Array.isArray,
  string: (value) => typeof value === "string",
  number: (value) => Number.isFinite(value),
  integer: (value) => Number.isInteger(value),
  boolean: (value) => typeof value === "boolean",
  null: (value) => value === null,
};
const NUMERIC: ReadonlySet<string> = new Set(["number", "integer"]);
const CALLED: Readonly<Record<string, string>> = {
  object: "an object",
  array: "a list",
  string: "text",
  number: "a number",
  integer: "a whole number",
  boolean: "true or false",
  null: "null",
};

const equals = (a: unknown, b: unknown, budget: RunBudget): boolean =>
  a === b || (typeof a === "object" && typeof b === "object" && canonical(a, budget) === canonical(b, budget));

/** Formats a value of `enum` or `const` for messages. */
const valueText = (value: unknown): string => shownName(typeof value === "string" ? value : JSON.stringify(value));

const numberIn = (value: unknown): number | undefined => (typeof value === "number" ? value : undefined);
const lengthOf = (value: unknown, { budget }: Check): number | undefined => {
  if (typeof value !== "string") return undefined;
  budget.work(charactersOfWork(value.length));
  return characterCount(value);
};

/** The name of a schema that requires one member of an object, if the object lacks it. */
const lacking = (schema: unknown, value: unknown): string[] => {
  const names: unknown = isRecord(schema) ? schema.required : undefined;
  const [name] = Array.isArray(names) && names.length === 1 ? (names as string[]) : [];
  return name !== undefined && isRecord(value) && value[name] === undefined ? [name] : [];
};

export const VALUE_KEYWORDS: Readonly<Record<string, Keyword>> = {
  $ref: (check, value, schema, path) => {
    const reference = schema.$ref as string;
    if (!check.references.has(reference)) check.references.set(reference, referenced(check.root, reference));
    enter(check, value, check.references.get(reference), path);
  },
  type: (check, value, schema, path) => {
    const types = [schema.type].flat() as string[];
    if (types.some((type) => TYPE_OF[type]!(value))) return;
    const isInexact = typeof value === "string" && isInexactInteger(value) && types.some((type) => NUMERIC.has(type));
    report(check, path, isInexact ? INEXACT_NUMBER : `must be ${types.map((type) => CALLED[type]).join(" or ")}`);
  },
  enum: (check, value, schema, path) => {
    const values = schema.enum as unknown[];
    check.budget.work(elementsOfWork(values.length));
    if (values.some((one) => equals(one, value, check.budget))) return;
    const names = values.slice(0, SHOWN_VALUES).map(valueText);
    report(check, path, `must be one of ${names.join(", ")}${meantOf(check, value, names)}`);
  },
  const: (check, value, schema, path) => {
    if (!equals(schema.const, value, check.budget)) report(check, path, `must be ${valueText(schema.const)}`);
  },
  allOf: (check, value, schema, path) => (schema.allOf as unknown[]).forEach((one) => enter(check, value, one, path)),
  anyOf: (check, value, schema, path) => {
    const choices = schema.anyOf as unknown[];
    if (choices.some((one) => isValid(check, value, one))) return;
    const names = choices.flatMap((one) => lacking(one, value));
    report(check, path, names.length === choices.length ? `needs ${names.join(" or ")}` : "fits none of the schemas of anyOf");
  },
  oneOf: (check, value, schema, path) => {
    const fitting = (schema.oneOf as unknown[]).filter((one) => isValid(check, value, one)).length;
    if (fitting !== 1) report(check, path, `must fit one of the schemas of oneOf, but fits ${fitting}`);
  },
  not: (check, value, schema, path) => {
    if (isValid(check, value, schema.not)) report(check, path, "matches the schema that it must not match");
  },
  if: (check, value, schema, path) => {
    const next = isValid(check, value, schema.if) ? schema.then : schema.else;
    if (next !== undefined) enter(check, value, next, path);
  },
  minimum: bound(numberIn, atLeast, (limit) => `must be at least ${limit}`)("minimum"),
  maximum: bound(numberIn, atMost, (limit) => `must be at most ${limit}`)("maximum"),
  exclusiveMinimum: bound(
    numberIn,
    (size, limit) => size > limit,
    (limit) => `must be above ${limit}`,
  )("exclusiveMinimum"),
  exclusiveMaximum: bound(
    numberIn,
    (size, limit) => size < limit,
    (limit) => `must be below ${limit}`,
  )("exclusiveMaximum"),
  multipleOf: bound(
    numberIn,
    (size, unit) => Math.abs(size / unit - Math.round(size / unit)) < TOLERANCE,
    (limit) => `must be a multiple of ${limit}`,
  )("multipleOf"),
  minLength: bound(lengthOf, atLeast, (limit) => atLeastSome(limit, "characters"))("minLength"),
  maxLength: bound(lengthOf, atMost, (limit) => `must have at most ${limit} characters`)("maxLength"),
  pattern: (check, value, schema, path) => {
    const source = schema.pattern as string;
    if (typeof value === "string" && !matches(check, source, value)) report(check, path, `must match ${shownName(source)}`);
  },
  format: (check, value, schema, path) => {
    const format = schema.format as string;
    if (typeof value === "string") check.budget.work(charactersOfWork(value.length));
    if (check.formats.get(format)?.(value) === false) report(check, path, `must be of the format ${shownName(format)}`);
  },
};
