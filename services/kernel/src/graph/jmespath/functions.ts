import { INEXACT_NUMBER, isInexactInteger } from "../../text/json-text";
import { BindError, charactersOfWork, elementsOfWork, type RunBudget } from "../budget";
import { typeOf } from "./values";

/** A value, or an expression to apply to values. */
export type Argument = { value: unknown } | { apply: (item: unknown) => unknown };

type Function = (args: readonly Argument[], budget: RunBudget) => unknown;
type Values = readonly unknown[];

const isA = (value: unknown, types: string): boolean => types === "any" || types.split("|").includes(typeOf(value));

const wrong = (name: string, takes: readonly string[]): BindError =>
  new BindError(`expression: ${name}() takes (${takes.join(", ").replaceAll("|", " or ")})`);

/**
 * Defines a function. Each entry of `takes` lists the types of one argument: `any`, types separated by bars, or `&` for an expression. If
 * the last entry ends in `...`, that argument can repeat.
 */
const define = (name: string, takes: readonly string[], run: (values: never, budget: RunBudget) => unknown): [string, Function] => {
  const isVariadic = takes.at(-1)?.endsWith("...") ?? false;
  const typesAt = (index: number): string => (takes[Math.min(index, takes.length - 1)] ?? "any").replace("...", "");
  return [
    name,
    (args, budget) => {
      const isCount = isVariadic ? args.length >= takes.length : args.length === takes.length;
      const fits = args.every((one, index) => {
        const types = typesAt(index);
        return types === "&" ? "apply" in one : "value" in one && isA(one.value, types);
      });
      if (!isCount || !fits) throw wrong(name, takes);
      return run(args.map((one) => ("apply" in one ? one.apply : one.value)) as never, budget);
    },
  ];
};

const allOf = (list: Values, types: string, name: string): void => {
  if (!types.split("|").some((type) => list.every((item) => typeOf(item) === type))) throw wrong(name, [`array of ${types}`]);
};

const less = (left: unknown, right: unknown): number => (left === right ? 0 : (left as number) < (right as number) ? -1 : 1);

const sorted = (list: Values, keyOf: (item: unknown) => unknown, name: string, budget: RunBudget): unknown[] => {
  const keyed = list.map((item) => [keyOf(item), item] as const);
  allOf(
    keyed.map(([key]) => key),
    "number|string",
    name,
  );
  budget.work(list.length);
  return keyed.sort(([a], [b]) => less(a, b)).map(([, item]) => item);
};

const extreme = (list: Values, keyOf: (item: unknown) => unknown, sign: 1 | -1, name: string): unknown => {
  const keyed = list.map((item) => [keyOf(item), item] as const);
  allOf(
    keyed.map(([key]) => key),
    "number|string",
    name,
  );
  return (
    keyed.reduce<readonly [unknown, unknown] | undefined>(
      (best, one) => (best && less(one[0], best[0]) * sign <= 0 ? best : one),
      undefined,
    )?.[1] ?? null
  );
};

const itself = (item: unknown): unknown => item;

const text = (result: string, budget: RunBudget): string => {
  budget.bytes(result.length);
  budget.work(charactersOfWork(result.length));
  return result;
};

/** A JSON number, the form that `to_number` accepts. */
const JSON_NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/;

const toNumber = (value: unknown): number | null => {
  if (typeof value === "number") return value;
  if (typeof value === "string" && isInexactInteger(value))
    throw new BindError(`expression: the argument of to_number() ${INEXACT_NUMBER}`);
  const number = typeof value === "string" && JSON_NUMBER.test(value) ? Number(value) : NaN;
  return Number.isFinite(number) ? number : null;
};

const numbers = (list: Values, name: string): number[] => {
  allOf(list, "number", name);
  return list as number[];
};
const sum = (list: readonly number[]): number => list.reduce((total, item) => total + item, 0);

export const FUNCTIONS: ReadonlyMap<string, Function> = new Map([
  define("abs", ["number"], ([value]: [number]) => Math.abs(value)),
  define("avg", ["array"], ([list]: [Values]) => (list.length === 0 ? null : sum(numbers(list, "avg")) / list.length)),
  define("ceil", ["number"], ([value]: [number]) => Math.ceil(value)),
  define("contains", ["array|string", "any"], ([where, what]: [string | Values, unknown], budget) => {
    budget.work(typeof where === "string" ? charactersOfWork(where.length) : elementsOfWork(where.length));
    return typeof where === "string" ? typeof what === "string" && where.includes(what) : where.includes(what);
  }),
  define("ends_with", ["string", "string"], ([value, end]: [string, string]) => value.endsWith(end)),
  define("floor", ["number"], ([value]: [number]) => Math.floor(value)),
  define("join", ["string", "array"], ([glue, list]: [string, Values], budget) => {
    allOf(list, "string", "join");
    const length = (list as string[]).reduce((total, item) => total + item.length + glue.length, 0);
    budget.bytes(length);
    return list.join(glue);
  }),
  define("keys", ["object"], ([value]: [object], budget) => counted(Object.keys(value), budget)),
  define("length", ["string|array|object"], ([value]: [string | Values | object]) =>
    typeof value === "string" ? [...value].length : Array.isArray(value) ? value.length : Object.keys(value).length,
  ),
  define("map", ["&", "array"], ([apply, list]: [(item: unknown) => unknown, Values], budget) => counted(list.map(apply), budget)),
  define("max", ["array"], ([list]: [Values]) => extreme(list, itself, 1, "max")),
  define("max_by", ["array", "&"], ([list, keyOf]: [Values, (item: unknown) => unknown]) => extreme(list, keyOf, 1, "max_by")),
  define("merge", ["object..."], (objects: object[], budget) => {
    const merged = new Map(objects.flatMap((one) => Object.entries(one) as [string, unknown][]));
    budget.work(elementsOfWork(merged.size));
    return Object.fromEntries(merged);
  }),
  define("min", ["array"], ([list]: [Values]) => extreme(list, itself, -1, "min")),
  define("min_by", ["array", "&"], ([list, keyOf]: [Values, (item: unknown) => unknown]) => extreme(list, keyOf, -1, "min_by")),
  define("not_null", ["any..."], (values: Values) => values.find((value) => value !== null && value !== undefined) ?? null),
  define("reverse", ["string|array"], ([value]: [string | Values], budget) =>
    typeof value === "string" ? text([...value].reverse().join(""), budget) : counted([...value].reverse(), budget),
  ),
  define("sort", ["array"], ([list]: [Values], budget) => sorted(list, itself, "sort", budget)),
  define("sort_by", ["array", "&"], ([list, keyOf]: [Values, (item: unknown) => unknown], budget) =>
    sorted(list, keyOf, "sort_by", budget),
  ),
  // `split` and `zip` are functions of the community edition of JMESPath. `split` has no optional count.
  define("split", ["string", "string"], ([glue, value]: [string, string], budget) => {
    budget.work(charactersOfWork(value.length));
    budget.bytes(value.length);
    return counted(glue === "" ? [...value] : value.split(glue), budget);
  }),
  define("starts_with", ["string", "string"], ([value, start]: [string, string]) => value.startsWith(start)),
  define("sum", ["array"], ([list]: [Values]) => sum(numbers(list, "sum"))),
  define("to_array", ["any"], ([value]: [unknown]) => (Array.isArray(value) ? (value as unknown[]) : [value])),
  define("to_number", ["any"], ([value]: [unknown]) => toNumber(value)),
  define("to_string", ["any"], ([value]: [unknown], budget) => (typeof value === "string" ? value : text(JSON.stringify(value), budget))),
  define("type", ["any"], ([value]: [unknown]) => typeOf(value)),
  define("zip", ["array..."], (lists: Values[], budget) => {
    const count = Math.min(...lists.map(({ length }) => length));
    budget.work(elementsOfWork(count * lists.length));
    return Array.from({ length: count }, (_, index) => lists.map((list) => list[index]));
  }),
  define("values", ["object"], ([value]: [object], budget) => counted(Object.values(value), budget)),
]);

function counted<T>(list: T[], budget: RunBudget): T[] {
  budget.work(elementsOfWork(list.length));
  return list;
}
