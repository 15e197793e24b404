/** Checks tests when a workflow is saved. */
import type { Issue } from "../errors";
import { didYouMean } from "../nearest-name";
import { textBytes } from "../graph/bounds";
import { expressionProblem } from "../graph/jmespath";
import { schemaProblems } from "../graph/json-schema";
import { patternOf } from "../graph/json-schema/pattern";
import { isRecord, shownName } from "../graph/types";
import { MEDIA_FAMILIES } from "../graph/values/media";
import { ONE_LINE, ONE_LINE_FORM } from "../limits";
import { EXPECTATION_KINDS, FILE_NUMBERS, TEST_BOUNDS, type ExpectationKind } from "./types";

const TEST_MEMBERS = ["name", "inputs", "expect", "maxCredits", "maxMs"];
const EXPECTATION_MEMBERS = ["path", ...EXPECTATION_KINDS];
const FILE_MEMBERS = ["kind", "contentType", ...FILE_NUMBERS];

const unknownMembers = (value: object, knownMembers: readonly string[], path: string): Issue[] =>
  Object.keys(value)
    .filter((name) => !knownMembers.includes(name))
    .map((name) => ({
      path: `${path}.${shownName(name)}`,
      message: `is not known${didYouMean(name, knownMembers) || `: use ${knownMembers.join(", ")}`}`,
    }));

const isCount = (value: unknown): value is number => typeof value === "number" && Number.isFinite(value) && value >= 0;

const textProblem = (value: unknown): string | undefined =>
  typeof value !== "string" || value === "" ? "must be text that is not empty" : undefined;

const jmespathProblem = (value: unknown): string | undefined => textProblem(value) ?? expressionProblem(value as string);

const patternProblem = (value: unknown): string | undefined => {
  const problem = textProblem(value);
  if (problem) return problem;
  const pattern = patternOf(value as string);
  return typeof pattern === "string" ? pattern : undefined;
};

const schemaProblem = (value: unknown): string | undefined =>
  isRecord(value) ? schemaProblems(value).join("; ") || undefined : "must be a JSON Schema: an object";

const rangeProblem = (value: unknown): string | undefined => {
  if (isCount(value)) return undefined;
  const bounds = isRecord(value) ? Object.entries(value) : [];
  const isRange = bounds.length > 0 && bounds.every(([name, bound]) => (name === "min" || name === "max") && isCount(bound));
  if (!isRange) return "must be a number that is not negative, or an object of min and max";
  const { min = 0, max = Infinity } = value as { min?: number; max?: number };
  return min > max ? "has a min above its max" : undefined;
};

const fileIssues = (file: unknown, path: string): Issue[] => {
  if (!isRecord(file) || Object.keys(file).length === 0) return [{ path, message: `must be an object of ${FILE_MEMBERS.join(", ")}` }];
  const { kind, contentType } = file;
  const isKind = kind === undefined || MEDIA_FAMILIES.some((family) => family === kind);
  return [
    ...unknownMembers(file, FILE_MEMBERS, path),
    ...(isKind ? [] : [{ path: `${path}.kind`, message: `must be one of ${MEDIA_FAMILIES.join(", ")}` }]),
    ...(contentType === undefined ? [] : problemAt(`${path}.contentType`, textProblem(contentType))),
    ...FILE_NUMBERS.flatMap((name) => (file[name] === undefined ? [] : problemAt(`${path}.${name}`, rangeProblem(file[name])))),
  ];
};

const problemAt = (path: string, message: string | undefined): Issue[] => (message === undefined ? [] : [{ path, message }]);

const CHECKS: Readonly<Record<ExpectationKind, (value: unknown, path: string) => Issue[]>> = {
  equals: () => [],
  matches: (value, path) => problemAt(path, patternProblem(value)),
  contains: (value, path) => problemAt(path, textProblem(value)),
  schema: (value, path) => problemAt(path, schemaProblem(value)),
  jmespath: (value, path) => problemAt(path, jmespathProblem(value)),
  file: fileIssues,
};

const expectationIssues = (value: unknown, at: string): Issue[] => {
  const kinds = isRecord(value) ? EXPECTATION_KINDS.filter((kind) => value[kind] !== undefined) : [];
  const [kind] = kinds;
  if (!isRecord(value) || kind === undefined || kinds.length > 1)
    return [{ path: at, message: `must be an object with exactly one of ${EXPECTATION_KINDS.join(", ")}` }];
  return [
    ...unknownMembers(value, EXPECTATION_MEMBERS, at),
    ...(value.path === undefined ? [] : problemAt(`${at}.path`, jmespathProblem(value.path))),
    ...CHECKS[kind](value[kind], `${at}.${kind}`),
  ];
};

const nameProblem = (name: unknown): string | undefined => {
  if (typeof name !== "string" || name.trim() === "" || [...name].length > TEST_BOUNDS.nameChars)
    return `must be text of 1 to ${TEST_BOUNDS.nameChars} characters`;
  return ONE_LINE.test(name) ? undefined : ONE_LINE_FORM;
};

const limitIssues = ({ maxCredits, maxMs }: Record<string, unknown>, at: string): Issue[] => {
  const isTime = maxMs === undefined || (Number.isInteger(maxMs) && isCount(maxMs) && maxMs > 0 && maxMs <= TEST_BOUNDS.milliseconds);
  return [
    ...(maxCredits === undefined || isCount(maxCredits)
      ? []
      : [{ path: `${at}.maxCredits`, message: "must be a number that is not negative" }]),
    ...(isTime ? [] : [{ path: `${at}.maxMs`, message: `must be a whole number from 1 to ${TEST_BOUNDS.milliseconds}` }]),
  ];
};

const testIssues = (test: unknown, at: string): Issue[] => {
  if (!isRecord(test)) return [{ path: at, message: `must be an object of ${TEST_MEMBERS.join(", ")}` }];
  const { name, inputs, expect } = test;
  const isList = Array.isArray(expect) && expect.length <= TEST_BOUNDS.expectations;
  return [
    ...unknownMembers(test, TEST_MEMBERS, at),
    ...problemAt(`${at}.name`, nameProblem(name)),
    ...(isRecord(inputs) ? [] : [{ path: `${at}.inputs`, message: "must be an object: a value for each input" }]),
    ...(isList
      ? expect.flatMap((one, index) => expectationIssues(one, `${at}.expect[${index}]`))
      : [{ path: `${at}.expect`, message: `must be a list of at most ${TEST_BOUNDS.expectations} expectations` }]),
    ...limitIssues(test, at),
  ];
};

/** @param tests value of the workflow's member `tests` */
export const testProblems = (tests: unknown): Issue[] => {
  const path = "tests";
  if (!Array.isArray(tests)) return [{ path, message: "must be a list of tests" }];
  if (tests.length > TEST_BOUNDS.tests) return [{ path, message: `has ${tests.length} tests: at most ${TEST_BOUNDS.tests} are allowed` }];
  if (textBytes(JSON.stringify(tests)) > TEST_BOUNDS.bytes) return [{ path, message: `is longer than ${TEST_BOUNDS.bytes} bytes` }];
  const names = tests.map((test: unknown) => (isRecord(test) ? test.name : undefined));
  return tests.flatMap((test: unknown, index): Issue[] => {
    const isTwice = typeof names[index] === "string" && names.indexOf(names[index]) < index;
    const twice = isTwice ? [{ path: `tests[${index}].name`, message: "is the name of an earlier test: give each test its own" }] : [];
    return [...testIssues(test, `tests[${index}]`), ...twice];
  });
};
