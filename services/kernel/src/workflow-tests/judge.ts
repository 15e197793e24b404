/** Judges a test's run: which expectations failed, and the expected and actual values. */
import { BindError, charactersOfWork, createBudget, type RunBudget } from "../graph/budget";
import { evaluate, parseExpression } from "../graph/jmespath";
import { equal } from "../graph/jmespath/values";
import { schemaViolations } from "../graph/json-schema";
import { patternOf, workOfMatch } from "../graph/json-schema/pattern";
import { isRecord } from "../graph/types";
import { mediaFamily } from "../graph/values/media";
import { parseJsonText } from "../graph/values/json-text";
import { toCredits } from "../money";
import {
  FILE_NUMBERS,
  kindOfExpectation,
  TEST_BOUNDS,
  type Expectation,
  type ExpectationKind,
  type FileExpectation,
  type FileNumber,
  type NumberRange,
  type WorkflowTest,
} from "./types";

/** Known properties of a stored file. */
export type TestedFile = { contentType: string } & Partial<Record<FileNumber, number | undefined>>;

export interface TestedRun {
  status: string;
  error: { code: string; message: string } | null;
  /** The result; undefined if the run has none. */
  result: unknown;
  /** Price of all calls, including reused ones. */
  millicredits: number;
  durationMs: number | null;
  fileAt(url: string): TestedFile | undefined;
}

export interface TestFailure {
  /** The kind of expectation, or `status`, `maxCredits` or `maxMs`. */
  kind: ExpectationKind | "status" | "maxCredits" | "maxMs";
  /** Index of the expectation in `expect`. Not set for `status`, `maxCredits` and `maxMs`. */
  index?: number;
  path?: string;
  expected: unknown;
  /** The actual value, or null if there is none. Long values are cut. */
  got: unknown;
}

const MISSING = "nothing";
const COMPLETED = "completed";

/** Shortens a value for use in a failure. */
export const quoted = (value: unknown): unknown => {
  if (value === undefined) return null;
  const text = typeof value === "string" ? value : JSON.stringify(value);
  return text.length <= TEST_BOUNDS.quotedChars ? value : `${text.slice(0, TEST_BOUNDS.quotedChars)}…`;
};

/** Returns the only member of a result, or the whole result if it has several members. */
const onlyMember = (result: unknown): unknown => {
  const members = isRecord(result) ? Object.values(result) : [];
  return members.length === 1 ? members[0] : result;
};

const valueAt = ({ path }: Expectation, result: unknown, budget: RunBudget): unknown =>
  path === undefined ? onlyMember(result) : evaluate(parseExpression(path), result ?? null, budget);

const isWithin = (range: NumberRange, value: number | undefined): boolean => {
  if (value === undefined) return false;
  if (typeof range === "number") return value === range;
  return value >= (range.min ?? -Infinity) && value <= (range.max ?? Infinity);
};

const textOf = (value: unknown): string => (typeof value === "string" ? value : JSON.stringify(value ?? null));

/** The URL of a file in a result; undefined for other values. */
export const addressIn = (value: unknown): string | undefined => (isRecord(value) && typeof value.url === "string" ? value.url : undefined);

/** Members of a file that don't match; undefined if all match. */
const fileDifference = (expected: FileExpectation, value: unknown, { fileAt }: TestedRun): Record<string, unknown> | undefined => {
  const url = addressIn(value);
  const file = url === undefined ? undefined : fileAt(url);
  if (!file) return { file: url === undefined ? MISSING : "not one of your files" };
  const { kind, contentType } = expected;
  const family = mediaFamily(file.contentType);
  const numbers = FILE_NUMBERS.filter((name) => expected[name] !== undefined && !isWithin(expected[name], file[name]));
  const differences = {
    ...(kind === undefined || kind === family ? {} : { kind: family ?? file.contentType }),
    ...(contentType === undefined || contentType === file.contentType ? {} : { contentType: file.contentType }),
    ...Object.fromEntries(numbers.map((name) => [name, file[name] ?? null])),
  };
  return Object.keys(differences).length === 0 ? undefined : differences;
};

/** In a list, every file must match. */
const filesDifference = (expected: FileExpectation, value: unknown, run: TestedRun): unknown => {
  const files = Array.isArray(value) ? value : [value];
  if (files.length === 0) return MISSING;
  return files.map((file) => fileDifference(expected, file, run)).find((difference) => difference !== undefined);
};

const matches = (source: string, value: unknown, budget: RunBudget): boolean => {
  const pattern = patternOf(source);
  if (typeof pattern === "string") return false;
  const text = textOf(value);
  budget.work(workOfMatch(pattern, text));
  return pattern.test(text);
};

const contains = (part: string, value: unknown, budget: RunBudget): boolean => {
  if (Array.isArray(value) && value.some((element) => element === part)) return true;
  const text = textOf(value);
  budget.work(charactersOfWork(text.length));
  return text.includes(part);
};

/** Checks a value against a schema. Text that contains JSON is parsed first, unless the schema accepts text. */
const schemaIssues = ({ schema = {} }: Expectation, value: unknown, budget: RunBudget): string[] => {
  const issuesOf = (one: unknown): string[] =>
    schemaViolations(schema, one ?? null, budget).map(({ path, message }) => (path === "" ? message : `${path} ${message}`));
  const issues = issuesOf(value);
  const parsed = issues.length > 0 && typeof value === "string" ? parseJsonText(value) : undefined;
  return parsed ? issuesOf(parsed.value) : issues;
};

/** @returns undefined if the expectation is met */
const failureOf = (expectation: Expectation, run: TestedRun, budget: RunBudget): { got: unknown } | undefined => {
  const value = valueAt(expectation, run.result, budget);
  const { equals, matches: pattern = "", contains: part = "", jmespath = "", file = {} } = expectation;
  switch (kindOfExpectation(expectation)) {
    case "equals":
      return equal(equals, value, budget) ? undefined : { got: value };
    case "matches":
      return matches(pattern, value, budget) ? undefined : { got: value };
    case "contains":
      return contains(part, value, budget) ? undefined : { got: value };
    case "schema": {
      const issues = schemaIssues(expectation, value, budget);
      return issues.length === 0 ? undefined : { got: { value: quoted(value), problems: issues } };
    }
    case "jmespath": {
      const result = evaluate(parseExpression(jmespath), value ?? null, budget);
      return result === true ? undefined : { got: result };
    }
    case "file": {
      const difference = filesDifference(file, value, run);
      return difference === undefined ? undefined : { got: difference };
    }
  }
};

/** Returns the failure of an expectation. An expression that can't be evaluated fails with its message. */
const judged = (expectation: Expectation, index: number, run: TestedRun, budget: RunBudget): TestFailure[] => {
  const kind = kindOfExpectation(expectation);
  const { path } = expectation;
  const failure = (actual: unknown): TestFailure[] => [
    { kind, index, ...(path === undefined ? {} : { path }), expected: expectation[kind], got: quoted(actual) },
  ];
  try {
    const problem = failureOf(expectation, run, budget);
    return problem ? failure(problem.got) : [];
  } catch (error) {
    if (!(error instanceof BindError)) throw error;
    return failure(`not checked: ${error.message}`);
  }
};

/** Returns the failures of a run; empty if the test passed. If the run didn't complete, its status is the only failure. */
export const judgeTest = ({ expect, maxCredits, maxMs }: WorkflowTest, run: TestedRun): TestFailure[] => {
  if (run.status !== COMPLETED) {
    const actual = run.error ? `${run.status}: ${run.error.code}: ${run.error.message}` : run.status;
    return [{ kind: "status", expected: COMPLETED, got: quoted(actual) }];
  }
  const budget = createBudget({}, { valueBytes: Infinity, calls: Infinity, work: TEST_BOUNDS.work });
  const credits = toCredits(run.millicredits);
  return [
    ...expect.flatMap((expectation, index) => judged(expectation, index, run, budget)),
    ...(maxCredits === undefined || credits <= maxCredits ? [] : [{ kind: "maxCredits" as const, expected: maxCredits, got: credits }]),
    ...(maxMs === undefined || (run.durationMs ?? Infinity) <= maxMs
      ? []
      : [{ kind: "maxMs" as const, expected: maxMs, got: run.durationMs }]),
  ];
};
