/** Checks tests when a workflow is saved. */
import type { Issue } from "../errors";
import { textBytes } from "../graph/bounds";
import { expressionProblem } from "../graph/jmespath";
import { schemaProblems } from "../graph/json-schema";
import { isRecord } from "../graph/types";
import { MEDIA_FAMILIES } from "../graph/values/media";
import { ONE_LINE, ONE_LINE_FORM } from "../limits";
import { judgedVersionIssues, judgeIssues } from "./judge-problems";
import { isCount, problemAt, patternProblem, rangeProblem, textProblem, unknownMembers } from "./member-problems";
import { EXPECTATION_KINDS, FILE_NUMBERS, SIMILARITIES, TEST_BOUNDS, type ExpectationKind, type WorkflowTest } from "./types";

const TEST_MEMBERS = ["name", "inputs", "expect", "maxCredits", "maxMs"];
const EXPECTATION_MEMBERS = ["path", ...EXPECTATION_KINDS];
const FILE_MEMBERS = ["kind", "contentType", ...FILE_NUMBERS, "loudness", "similarTo", "text"];
const SIMILAR_MEMBERS = ["file", "by", "atLeast"];
const TEXT_MEMBERS = ["contains", "matches"];
const MAX_ADDRESS_CHARS = 2_048;

const jmespathProblem = (value: unknown): string | undefined => textProblem(value) ?? expressionProblem(value as string);

const schemaProblem = (value: unknown): string | undefined =>
  isRecord(value) ? schemaProblems(value).join("; ") || undefined : "must be a JSON Schema: an object";

const similarIssues = (value: unknown, path: string): Issue[] => {
  if (!isRecord(value)) return [{ path, message: `must be an object of ${SIMILAR_MEMBERS.join(", ")}` }];
  const { file, by, atLeast } = value;
  const isBy = by === undefined || SIMILARITIES.some((one) => one === by);
  const isShare = atLeast === undefined || (isCount(atLeast) && atLeast <= 1);
  const isAddress = typeof file === "string" && file !== "" && file.length <= MAX_ADDRESS_CHARS;
  return [
    ...unknownMembers(value, SIMILAR_MEMBERS, path),
    ...(isAddress ? [] : [{ path: `${path}.file`, message: "must be the URL or the id of one of your files" }]),
    ...(isBy ? [] : [{ path: `${path}.by`, message: `must be one of ${SIMILARITIES.join(", ")}` }]),
    ...(isShare ? [] : [{ path: `${path}.atLeast`, message: "must be a number from 0 to 1" }]),
  ];
};

const fileTextIssues = (value: unknown, path: string): Issue[] => {
  if (!isRecord(value) || Object.keys(value).length === 0) return [{ path, message: `must be an object of ${TEXT_MEMBERS.join(", ")}` }];
  const { contains, matches } = value;
  return [
    ...unknownMembers(value, TEXT_MEMBERS, path),
    ...(contains === undefined ? [] : problemAt(`${path}.contains`, textProblem(contains))),
    ...(matches === undefined ? [] : problemAt(`${path}.matches`, patternProblem(matches))),
  ];
};

const fileIssues = (file: unknown, path: string): Issue[] => {
  if (!isRecord(file) || Object.keys(file).length === 0) return [{ path, message: `must be an object of ${FILE_MEMBERS.join(", ")}` }];
  const { kind, contentType, loudness, similarTo, text } = file;
  const isKind = kind === undefined || MEDIA_FAMILIES.some((family) => family === kind);
  return [
    ...unknownMembers(file, FILE_MEMBERS, path),
    ...(isKind ? [] : [{ path: `${path}.kind`, message: `must be one of ${MEDIA_FAMILIES.join(", ")}` }]),
    ...(contentType === undefined ? [] : problemAt(`${path}.contentType`, textProblem(contentType))),
    ...FILE_NUMBERS.flatMap((name) => (file[name] === undefined ? [] : problemAt(`${path}.${name}`, rangeProblem(file[name])))),
    ...(loudness === undefined ? [] : problemAt(`${path}.loudness`, rangeProblem(loudness, true))),
    ...(similarTo === undefined ? [] : similarIssues(similarTo, `${path}.similarTo`)),
    ...(text === undefined ? [] : fileTextIssues(text, `${path}.text`)),
  ];
};

const CHECKS: Readonly<Record<ExpectationKind, (value: unknown, path: string) => Issue[]>> = {
  equals: () => [],
  matches: (value, path) => problemAt(path, patternProblem(value)),
  contains: (value, path) => problemAt(path, textProblem(value)),
  schema: (value, path) => problemAt(path, schemaProblem(value)),
  jmespath: (value, path) => problemAt(path, jmespathProblem(value)),
  file: fileIssues,
  judge: judgeIssues,
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
  const testsIssues = tests.flatMap((test: unknown, index): Issue[] => {
    const isTwice = typeof names[index] === "string" && names.indexOf(names[index]) < index;
    const twice = isTwice ? [{ path: `tests[${index}].name`, message: "is the name of an earlier test: give each test its own" }] : [];
    return [...testIssues(test, `tests[${index}]`), ...twice];
  });
  return testsIssues.length > 0 ? testsIssues : judgedVersionIssues(tests as WorkflowTest[]);
};
