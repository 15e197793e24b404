import type { Issue } from "../../errors";
import { BoundPassed, charactersOfWork, elementsOfWork, type RunBudget } from "../budget";
import { characterCount, type JsonSchema } from "../prices/price";
import { isRecord, shownName } from "../types";
import { member } from "../values/value";
import { isOfFormat } from "./formats";
import { patternOf } from "./pattern";
import { referenced } from "./reference";

/** Schemas that may be entered inside one another, by references. */
const MOST_DEPTH = 200;
const MOST_ISSUES = 10;
const SHOWN_VALUES = 10;
/** Instructions of a pattern's program, each for a character, that are one step of work. */
const INSTRUCTIONS_PER_STEP = 4;
/** How far from a whole number a quotient may be, for what floating point makes of it. */
const TOLERANCE = 1e-9;

interface Check {
  readonly root: JsonSchema;
  /** What references lead to that were met. */
  readonly references: Map<string, unknown>;
  readonly budget: RunBudget;
  readonly issues: Issue[];
  /** Issues after which checking may stop. */
  readonly most: number;
  depth: number;
}
type Keyword = (check: Check, value: unknown, schema: JsonSchema, path: string) => void;

const report = (check: Check, path: string, message: string): void => {
  if (check.issues.length < check.most) check.issues.push({ path, message });
};
const inside = (path: string, name: string | number): string =>
  path === "" ? shownName(String(name)) : `${path}.${shownName(String(name))}`;

const TYPE_OF: Readonly<Record<string, (value: unknown) => boolean>> = {
  object: isRecord,
  array: Array.isArray,
  string: (value) => typeof value === "string",
  number: (value) => typeof value === "number",
  integer: (value) => Number.isInteger(value),
  boolean: (value) => typeof value === "boolean",
  null: (value) => value === null,
};
const CALLED: Readonly<Record<string, string>> = {
  object: "an object",
  array: "a list",
  string: "text",
  number: "a number",
  integer: "a whole number",
  boolean: "true or false",
  null: "null",
};

/** JSON that is the same for equal values, whatever the order of their members. Counted. */
const canonical = (value: unknown, budget: RunBudget): string => {
  const text = JSON.stringify(value, (_name, one: unknown) =>
    isRecord(one) ? Object.fromEntries(Object.entries(one).sort(([a], [b]) => (a < b ? -1 : 1))) : one,
  );
  budget.work(charactersOfWork(text.length));
  return text;
};
const equals = (a: unknown, b: unknown, budget: RunBudget): boolean =>
  a === b || (typeof a === "object" && typeof b === "object" && canonical(a, budget) === canonical(b, budget));

const matches = ({ budget }: Check, source: string, text: string): boolean => {
  const pattern = patternOf(source);
  if (typeof pattern === "string") return true;
  budget.work(1 + Math.ceil((text.length * pattern.size) / INSTRUCTIONS_PER_STEP));
  return pattern.test(text);
};

const enter = (check: Check, value: unknown, schema: unknown, path: string): void => {
  check.budget.work(1);
  if (check.issues.length >= check.most) return;
  if (schema === false) return report(check, path, "is not allowed");
  if (!isRecord(schema)) return;
  check.depth += 1;
  if (check.depth > MOST_DEPTH) throw new BoundPassed("the references of the schema lead in a circle");
  for (const keyword of Object.keys(schema)) if (Object.hasOwn(CHECKS, keyword)) CHECKS[keyword]!(check, value, schema, path);
  check.depth -= 1;
};

const isValid = (check: Check, value: unknown, schema: unknown): boolean => {
  const one: Check = { ...check, issues: [], most: 1 };
  enter(one, value, schema, "");
  return one.issues.length === 0;
};

const bound =
  (
    of: (value: unknown, check: Check) => number | undefined,
    holds: (size: number, limit: number) => boolean,
    message: (limit: number) => string,
  ) =>
  (name: string): Keyword =>
  (check, value, schema, path) => {
    const size = of(value, check);
    const limit = schema[name] as number;
    if (size !== undefined && !holds(size, limit)) report(check, path, message(limit));
  };

const numberIn = (value: unknown): number | undefined => (typeof value === "number" ? value : undefined);
const lengthOf = (value: unknown, { budget }: Check): number | undefined => {
  if (typeof value !== "string") return undefined;
  budget.work(charactersOfWork(value.length));
  return characterCount(value);
};
const elementsOf = (value: unknown): number | undefined => (Array.isArray(value) ? value.length : undefined);
const membersOf = (value: unknown): number | undefined => (isRecord(value) ? Object.keys(value).length : undefined);
const atLeast = (size: number, limit: number): boolean => size >= limit;
const atMost = (size: number, limit: number): boolean => size <= limit;

const record = (use: (check: Check, value: Record<string, unknown>, schema: JsonSchema, path: string) => void): Keyword => {
  return (check, value, schema, path) => {
    if (!isRecord(value)) return;
    check.budget.work(elementsOfWork(Object.keys(value).length));
    use(check, value, schema, path);
  };
};
const list = (use: (check: Check, value: unknown[], schema: JsonSchema, path: string) => void): Keyword => {
  return (check, value, schema, path) => {
    if (Array.isArray(value)) use(check, value as unknown[], schema, path);
  };
};

const isOwnProperty = (check: Check, schema: JsonSchema, name: string): boolean =>
  (isRecord(schema.properties) && Object.hasOwn(schema.properties, name)) ||
  (isRecord(schema.patternProperties) && Object.keys(schema.patternProperties).some((source) => matches(check, source, name)));

const needs = (check: Check, value: Record<string, unknown>, names: readonly string[], path: string): void => {
  check.budget.work(elementsOfWork(names.length));
  for (const name of names) if (!Object.hasOwn(value, name)) report(check, inside(path, name), "is required");
};

const CHECKS: Readonly<Record<string, Keyword>> = {
  $ref: (check, value, schema, path) => {
    const reference = schema.$ref as string;
    if (!check.references.has(reference)) check.references.set(reference, referenced(check.root, reference));
    enter(check, value, check.references.get(reference), path);
  },
  type: (check, value, schema, path) => {
    const types = [schema.type].flat() as string[];
    if (!types.some((type) => TYPE_OF[type]!(value))) report(check, path, `must be ${types.map((type) => CALLED[type]).join(" or ")}`);
  },
  enum: (check, value, schema, path) => {
    const values = schema.enum as unknown[];
    check.budget.work(elementsOfWork(values.length));
    if (!values.some((one) => equals(one, value, check.budget)))
      report(
        check,
        path,
        `must be one of: ${values
          .slice(0, SHOWN_VALUES)
          .map((one) => shownName(JSON.stringify(one)))
          .join(", ")}`,
      );
  },
  const: (check, value, schema, path) => {
    if (!equals(schema.const, value, check.budget)) report(check, path, `must be ${shownName(JSON.stringify(schema.const))}`);
  },
  allOf: (check, value, schema, path) => (schema.allOf as unknown[]).forEach((one) => enter(check, value, one, path)),
  anyOf: (check, value, schema, path) => {
    if (!(schema.anyOf as unknown[]).some((one) => isValid(check, value, one))) report(check, path, "fits none of the schemas of anyOf");
  },
  oneOf: (check, value, schema, path) => {
    const fitting = (schema.oneOf as unknown[]).filter((one) => isValid(check, value, one)).length;
    if (fitting !== 1) report(check, path, `must fit one of the schemas of oneOf, but fits ${fitting}`);
  },
  not: (check, value, schema, path) => {
    if (isValid(check, value, schema.not)) report(check, path, "fits the schema that it must not fit");
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
  minLength: bound(lengthOf, atLeast, (limit) => `must have at least ${limit} characters`)("minLength"),
  maxLength: bound(lengthOf, atMost, (limit) => `must have at most ${limit} characters`)("maxLength"),
  pattern: (check, value, schema, path) => {
    const source = schema.pattern as string;
    if (typeof value === "string" && !matches(check, source, value)) report(check, path, `must match ${shownName(source)}`);
  },
  format: (check, value, schema, path) => {
    if (typeof value !== "string") return;
    check.budget.work(charactersOfWork(value.length));
    if (!isOfFormat(value, schema.format as string)) report(check, path, `must be of the format ${shownName(schema.format as string)}`);
  },
  prefixItems: list((check, value, schema, path) =>
    (schema.prefixItems as unknown[]).slice(0, value.length).forEach((one, index) => enter(check, value[index], one, inside(path, index))),
  ),
  items: list((check, value, schema, path) => {
    const first = Array.isArray(schema.prefixItems) ? schema.prefixItems.length : 0;
    for (let index = first; index < value.length; index += 1) enter(check, value[index], schema.items, inside(path, index));
  }),
  contains: list((check, value, schema, path) => {
    const { minContains = 1, maxContains = Infinity } = schema as { minContains?: number; maxContains?: number };
    const found = value.filter((one) => isValid(check, one, schema.contains)).length;
    if (found < minContains || found > maxContains) report(check, path, `has ${found} of the items that it must contain`);
  }),
  minItems: bound(elementsOf, atLeast, (limit) => `must have at least ${limit} items`)("minItems"),
  maxItems: bound(elementsOf, atMost, (limit) => `must have at most ${limit} items`)("maxItems"),
  uniqueItems: list((check, value, schema, path) => {
    if (schema.uniqueItems !== true) return;
    check.budget.work(value.length);
    if (new Set(value.map((one) => canonical(one, check.budget))).size < value.length) report(check, path, "must not have an item twice");
  }),
  properties: record((check, value, schema, path) => {
    const properties = schema.properties as Record<string, unknown>;
    for (const name of Object.keys(value))
      if (Object.hasOwn(properties, name)) enter(check, value[name], properties[name], inside(path, name));
  }),
  patternProperties: record((check, value, schema, path) => {
    for (const [source, one] of Object.entries(schema.patternProperties as object))
      for (const name of Object.keys(value)) if (matches(check, source, name)) enter(check, value[name], one, inside(path, name));
  }),
  additionalProperties: record((check, value, schema, path) => {
    for (const name of Object.keys(value))
      if (!isOwnProperty(check, schema, name)) enter(check, value[name], schema.additionalProperties, inside(path, name));
  }),
  propertyNames: record((check, value, schema, path) => {
    for (const name of Object.keys(value))
      if (!isValid(check, name, schema.propertyNames)) report(check, inside(path, name), "has a name that is not allowed");
  }),
  required: record((check, value, schema, path) => needs(check, value, schema.required as string[], path)),
  minProperties: bound(membersOf, atLeast, (limit) => `must have at least ${limit} members`)("minProperties"),
  maxProperties: bound(membersOf, atMost, (limit) => `must have at most ${limit} members`)("maxProperties"),
  dependentRequired: record((check, value, schema, path) => {
    for (const [name, names] of Object.entries(schema.dependentRequired as object))
      if (member(value, name) !== undefined) needs(check, value, names as string[], path);
  }),
  dependentSchemas: record((check, value, schema, path) => {
    for (const [name, one] of Object.entries(schema.dependentSchemas as object))
      if (member(value, name) !== undefined) enter(check, value, one, path);
  }),
};

/**
 * Why a value does not fit a schema of a user; empty when it does.
 * @param schema one without `schemaProblems`
 * @throws BoundPassed when that takes more work than the budget has
 */
export const schemaViolations = (schema: JsonSchema, value: unknown, budget: RunBudget): Issue[] => {
  const check: Check = { root: schema, references: new Map(), budget, issues: [], most: MOST_ISSUES, depth: 0 };
  enter(check, value, schema, "");
  return check.issues;
};
