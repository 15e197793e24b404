/** Judges a test's run: which expectations failed, and the expected and actual values. */
import { BindError, createBudget, type RunBudget } from "../graph/budget";
import { evaluate, parseExpression } from "../graph/jmespath";
import { equal } from "../graph/jmespath/values";
import { schemaViolations } from "../graph/json-schema";
import { parseJsonText } from "../graph/values/json-text";
import { toCredits } from "../credits/money";
import { checkFiles } from "./file-checks";
import { scoreOf, type Vote } from "./judge-questions";
import { COMPLETED, isUncompared, problemKey, VOTE_END, type TestedRun } from "./tested-run";
import { contains, matches } from "./texts";
import { kindOfExpectation, TEST_BOUNDS, type Expectation, type ExpectationKind, type Judge, type WorkflowTest } from "./types";
import { valueAt } from "./values";

/** The kind of an expectation, or `status`, `maxCredits` or `maxMs`. */
export type CheckKind = ExpectationKind | "status" | "maxCredits" | "maxMs";

interface CheckPlace {
  kind: CheckKind;
  /** Index of the expectation in `expect`. Not set for `status`, `maxCredits` and `maxMs`. */
  index?: number;
  path?: string;
  expected: unknown;
}

export interface TestFailure extends CheckPlace {
  /** The actual value, or null if there is none. Of files, only the members that don't match. Long values are cut. */
  got: unknown;
}

/** An expectation or limit with the measured value. */
export interface TestCheck extends CheckPlace {
  passed: boolean;
  /** The measured value, or null if there is none. Long values are cut. */
  got: unknown;
  failure?: TestFailure;
}

/** Shortens a value for use in a result. */
export const quoted = (value: unknown, chars: number = TEST_BOUNDS.quotedChars): unknown => {
  if (value === undefined) return null;
  const text = typeof value === "string" ? value : JSON.stringify(value);
  return text.length <= chars ? value : `${text.slice(0, chars)}…`;
};

/** Checks a value against a schema. Text that contains JSON is parsed first, unless the schema accepts text. */
const schemaIssues = ({ schema = {} }: Expectation, value: unknown, budget: RunBudget): string[] => {
  const issuesOf = (one: unknown): string[] =>
    schemaViolations(schema, one ?? null, budget).map(({ path, message }) => (path === "" ? message : `${path} ${message}`));
  const issues = issuesOf(value);
  const parsed = issues.length > 0 && typeof value === "string" ? parseJsonText(value) : undefined;
  return parsed ? issuesOf(parsed.value) : issues;
};

interface Outcome {
  passed: boolean;
  measured: unknown;
  /** The actual value of a failure, if it isn't the measured value. */
  difference?: unknown;
}

const judgeOutcome = ({ atLeast }: Judge, index: number, { measurements = {} }: TestedRun): Outcome => {
  const problem = measurements[problemKey(index)]?.problem;
  const answers = Object.entries(measurements).flatMap(([key, one]) =>
    key.startsWith(`${index}.`) && key.endsWith(VOTE_END) ? [one] : [],
  );
  const failed = problem ?? answers.find(({ vote }) => vote === undefined)?.problem;
  const votes = answers.flatMap(({ vote }) => vote ?? []);
  if (failed !== undefined || votes.length === 0) return { passed: false, measured: `not judged: ${failed ?? "no answer"}` };
  const score = scoreOf(votes);
  const [{ reason }] = votes as [Vote];
  return { passed: score >= atLeast, measured: votes.length === 1 ? { score, reason } : { score, votes } };
};

const outcomeOf = (expectation: Expectation, index: number, run: TestedRun, budget: RunBudget): Outcome => {
  const value = valueAt(expectation, run.result, budget);
  const { equals, matches: pattern = "", contains: part = "", jmespath = "", file = {}, judge } = expectation;
  switch (kindOfExpectation(expectation)) {
    case "equals":
      return { passed: equal(equals, value, budget), measured: value };
    case "matches":
      return { passed: matches(pattern, value, budget), measured: value };
    case "contains":
      return { passed: contains(part, value, budget), measured: value };
    case "schema": {
      const issues = schemaIssues(expectation, value, budget);
      return issues.length === 0
        ? { passed: true, measured: value }
        : { passed: false, measured: { value: quoted(value), problems: issues } };
    }
    case "jmespath": {
      const result = evaluate(parseExpression(jmespath), value ?? null, budget);
      return { passed: result === true, measured: result };
    }
    case "file":
      return checkFiles(file, index, value, run, budget);
    case "judge":
      return judgeOutcome(judge!, index, run);
  }
};

/** @param difference the actual value of a failure, if it isn't the measured value */
const checked = (place: CheckPlace, { passed, measured, difference = measured }: Outcome): TestCheck => ({
  ...place,
  ...{ passed, got: quoted(measured, passed ? TEST_BOUNDS.passedChars : TEST_BOUNDS.quotedChars) },
  ...(passed ? {} : { failure: { ...place, got: quoted(difference) } }),
});

/** Checks an expectation. An expression that can't be evaluated fails with its message. */
const checkExpectation = (expectation: Expectation, index: number, run: TestedRun, budget: RunBudget): TestCheck => {
  const kind = kindOfExpectation(expectation);
  const { path } = expectation;
  const place = { kind, index, ...(path === undefined ? {} : { path }), expected: expectation[kind] };
  try {
    return checked(place, outcomeOf(expectation, index, run, budget));
  } catch (error) {
    if (!(error instanceof BindError)) throw error;
    return checked(place, { passed: false, measured: `not checked: ${error.message}` });
  }
};

/** Returns a check for each expectation and limit. If the run didn't complete, its status is the only check. */
export const checkTest = ({ expect, maxCredits, maxMs }: WorkflowTest, run: TestedRun): TestCheck[] => {
  if (run.status !== COMPLETED) {
    const actual = run.error ? `${run.status}: ${run.error.code}: ${run.error.message}` : run.status;
    return [checked({ kind: "status", expected: COMPLETED }, { passed: false, measured: actual })];
  }
  const budget = createBudget({}, { valueBytes: Infinity, calls: Infinity, work: TEST_BOUNDS.work });
  const { durationMs } = run;
  const credits = toCredits(run.millicredits);
  return [
    ...expect.flatMap((expectation, index) => (isUncompared(expectation, run) ? [] : [checkExpectation(expectation, index, run, budget)])),
    ...(maxCredits === undefined
      ? []
      : [checked({ kind: "maxCredits", expected: maxCredits }, { passed: credits <= maxCredits, measured: credits })]),
    ...(maxMs === undefined
      ? []
      : [checked({ kind: "maxMs", expected: maxMs }, { passed: (durationMs ?? Infinity) <= maxMs, measured: durationMs })]),
  ];
};

/** Returns the failures of a run; empty if the test passed. */
export const judgeTest = (test: WorkflowTest, run: TestedRun): TestFailure[] =>
  checkTest(test, run).flatMap(({ failure }) => failure ?? []);
