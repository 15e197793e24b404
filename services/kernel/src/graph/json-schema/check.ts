import type { Issue } from "../../errors";
import type { IssueCode } from "../issues";
import { BoundPassed, charactersOfWork, type RunBudget } from "../budget";
import type { JsonSchema } from "../prices/price";
import { isRecord, shownName } from "../types";
import type { FormatChecks } from "./formats";
import { workOfMatch, type PatternCompiler } from "./pattern";

/** Schemas that may be entered inside one another, by references. */
const MOST_DEPTH = 200;

/** How the schemas of one use are understood. */
export interface Options {
  /** Issues after which checking stops. */
  mostIssues: number;
  /** What is said of a value that may not be there at all. */
  refused: string;
  /** The formats that are checked. */
  formats: FormatChecks;
  patternOf: PatternCompiler;
}

/** One value's check by one schema. */
export interface Check extends Options {
  readonly root: JsonSchema;
  readonly keywords: Readonly<Record<string, Keyword>>;
  /** What references lead to that were met. */
  readonly references: Map<string, unknown>;
  readonly budget: RunBudget;
  readonly issues: Issue[];
  depth: number;
}

/** Reports what a keyword of a schema says against a value at a path. */
export type Keyword = (check: Check, value: unknown, schema: JsonSchema, path: string) => void;

export const report = (check: Check, path: string, message: string, code?: IssueCode): void => {
  if (check.issues.length < check.mostIssues) check.issues.push({ path, message, ...(code === undefined ? {} : { code }) });
};

export const inside = (path: string, name: string | number): string =>
  path === "" ? shownName(String(name)) : `${path}.${shownName(String(name))}`;

/** Checks a value by a schema inside the one that is checked. */
export const enter = (check: Check, value: unknown, schema: unknown, path: string): void => {
  check.budget.work(1);
  if (check.issues.length >= check.mostIssues) return;
  if (schema === false) return report(check, path, check.refused);
  if (!isRecord(schema)) return;
  check.depth += 1;
  if (check.depth > MOST_DEPTH) throw new BoundPassed("the references of the schema lead in a circle");
  for (const keyword of Object.keys(schema))
    if (Object.hasOwn(check.keywords, keyword)) check.keywords[keyword]!(check, value, schema, path);
  check.depth -= 1;
};

export const isValid = (check: Check, value: unknown, schema: unknown): boolean => {
  const one: Check = { ...check, issues: [], mostIssues: 1 };
  enter(one, value, schema, "");
  return one.issues.length === 0;
};

export const matches = ({ budget, patternOf }: Check, source: string, text: string): boolean => {
  const pattern = patternOf(source);
  if (typeof pattern === "string") return true;
  budget.work(workOfMatch(pattern, text));
  return pattern.test(text);
};

/** JSON that is the same for equal values, whatever the order of their members. */
export const canonical = (value: unknown, budget: RunBudget): string => {
  const text = JSON.stringify(value, (_name, one: unknown) =>
    isRecord(one) ? Object.fromEntries(Object.entries(one).sort(([a], [b]) => (a < b ? -1 : 1))) : one,
  );
  budget.work(charactersOfWork(text.length));
  return text;
};

/** A keyword that bounds a measure of the values that have it. */
export const bound =
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

export const atLeast = (size: number, limit: number): boolean => size >= limit;
export const atMost = (size: number, limit: number): boolean => size <= limit;
export const atLeastSome = (limit: number, things: string): string =>
  limit === 1 ? "must not be empty" : `must have at least ${limit} ${things}`;
