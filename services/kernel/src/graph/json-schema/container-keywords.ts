import { elementsOfWork } from "../budget";
import type { JsonSchema } from "../prices/price";
import { isRecord } from "../types";
import { member } from "../values/value";
import {
  atLeast,
  atLeastSome,
  atMost,
  bound,
  canonical,
  enter,
  inside,
  isValid,
  matches,
  meantOf,
  report,
  type Check,
  type Keyword,
} from "./check";

const elementsOf = (value: unknown): number | undefined => (Array.isArray(value) ? value.length : undefined);
const membersOf = (value: unknown): number | undefined => (isRecord(value) ? Object.keys(value).length : undefined);

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
  for (const name of names) if (member(value, name) === undefined) report(check, inside(path, name), "is required", "REQUIRED");
};

const reportUnknown = (check: Check, value: Record<string, unknown>, { properties }: JsonSchema, path: string, name: string): void => {
  const names = isRecord(properties) ? Object.keys(properties).filter((one) => !Object.hasOwn(value, one)) : [];
  report(check, path, check.rejection + meantOf(check, name, names));
};

export const CONTAINER_KEYWORDS: Readonly<Record<string, Keyword>> = {
  prefixItems: list((check, value, schema, path) =>
    (schema.prefixItems as unknown[]).slice(0, value.length).forEach((one, index) => enter(check, value[index], one, inside(path, index))),
  ),
  items: list((check, value, schema, path) => {
    const first = Array.isArray(schema.prefixItems) ? schema.prefixItems.length : 0;
    for (let index = first; index < value.length; index += 1) enter(check, value[index], schema.items, inside(path, index));
  }),
  contains: list((check, value, schema, path) => {
    const { minContains = 1, maxContains = Infinity } = schema as { minContains?: number; maxContains?: number };
    const matchCount = value.filter((one) => isValid(check, one, schema.contains)).length;
    if (matchCount < minContains || matchCount > maxContains) report(check, path, `has ${matchCount} of the items that it must contain`);
  }),
  minItems: bound(elementsOf, atLeast, (limit) => atLeastSome(limit, "items"))("minItems"),
  maxItems: bound(elementsOf, atMost, (limit) => `must have at most ${limit} items`)("maxItems"),
  uniqueItems: list((check, value, schema, path) => {
    if (schema.uniqueItems !== true) return;
    check.budget.work(value.length);
    if (new Set(value.map((one) => canonical(one, check.budget))).size < value.length) report(check, path, "must not have duplicate items");
  }),
  properties: record((check, value, schema, path) => {
    const properties = schema.properties as Record<string, unknown>;
    for (const name of Object.keys(value))
      if (Object.hasOwn(properties, name) && value[name] !== undefined) enter(check, value[name], properties[name], inside(path, name));
  }),
  patternProperties: record((check, value, schema, path) => {
    for (const [source, one] of Object.entries(schema.patternProperties as object))
      for (const name of Object.keys(value)) if (matches(check, source, name)) enter(check, value[name], one, inside(path, name));
  }),
  additionalProperties: record((check, value, schema, path) => {
    for (const name of Object.keys(value)) {
      if (isOwnProperty(check, schema, name)) continue;
      if (schema.additionalProperties === false) reportUnknown(check, value, schema, inside(path, name), name);
      else enter(check, value[name], schema.additionalProperties, inside(path, name));
    }
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
