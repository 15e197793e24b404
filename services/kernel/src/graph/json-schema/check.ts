import type { Issue } from "../../errors";
import { didYouMean } from "../../text/nearest-name";
import type { IssueCode } from "../../issues";
import { BoundPassed, charactersOfWork, type RunBudget } from "../budget";
import type { JsonSchema } from "../prices/price";
import { isRecord } from "../types";
import { shownName } from "../../text/shown-name";
import type { FormatChecks } from "./formats";
import { workOfMatch, type PatternCompiler } from "./pattern";

/** Maximum depth of nested schemas, reached through references. */
const MOST_DEPTH = 200;

/** How a kind of schema is interpreted, such as a user's or an operator's. */
export interface Options {
  /** Checking stops after this many issues. */
  mostIssues: number;
  /** Message for a value rejected by the schema `false`. */
  rejection: string;
  formats: FormatChecks;
  patternOf: PatternCompiler;
}

export interface Check extends Options {
  readonly root: JsonSchema;
  readonly keywords: Readonly<Record<string, Keyword>>;
  /** Resolved references, by reference text. */
  readonly references: Map<string, unknown>;
  readonly budget: RunBudget;
  readonly issues: Issue[];
  depth: number;
}

/** Checks one keyword for the value at a path and reports violations. */
export type Keyword = (check: Check, value: unknown, schema: JsonSchema, path: string) => void;

export const report = (check: Check, path: string, message: string, code?: IssueCode): void => {
  if (check.issues.length < check.mostIssues) check.issues.push({ path, message, ...(code === undefined ? {} : { code }) });
};

/** Names that are compared with a misspelt one. */
const MOST_NAMES = 200;

/** Suffix of a message with the name that was probably meant. Empty where no message is shown, as in `anyOf`. */
export const meantOf = ({ issues, mostIssues }: Check, name: unknown, names: readonly string[]): string =>
  typeof name === "string" && mostIssues > 1 && issues.length < mostIssues ? didYouMean(name, names.slice(0, MOST_NAMES)) : "";

export const inside = (path: string, name: string | number): string =>
  path === "" ? shownName(String(name)) : `${path}.${shownName(String(name))}`;

/** Checks a value against a subschema. */
export const enter = (check: Check, value: unknown, schema: unknown, path: string): void => {
  check.budget.work(1);
  if (check.issues.length >= check.mostIssues) return;
  if (schema === false) return report(check, path, check.rejection);
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

/** Returns JSON text that is equal for equal values, in any member order. */
export const canonical = (value: unknown, budget: RunBudget): string => {
  const text = JSON.stringify(value, (_name, one: unknown) =>
    isRecord(one) ? Object.fromEntries(Object.entries(one).sort(([a], [b]) => (a < b ? -1 : 1))) : one,
  );
  budget.work(charactersOfWork(text.length));
  return text;
};

/** A keyword that bounds a measure such as a length. */
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
