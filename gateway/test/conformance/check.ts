import assert from "node:assert/strict";
import type { Answer } from "../../../test-support/client";

/** A predicate in a pattern, with a description for failures. */
type Predicate = ((value: unknown) => boolean) & { description?: string };

const matcher = (text: string, test: (value: unknown) => boolean): Predicate => Object.assign(test, { description: text });

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;
const ISO = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/;

const isObject = (value: unknown): value is Record<string, unknown> => typeof value === "object" && value !== null && !Array.isArray(value);

/** Leaves of patterns. */
export const is = {
  text: matcher("a text that is not empty", (value) => typeof value === "string" && value !== ""),
  string: matcher("a string", (value) => typeof value === "string"),
  number: matcher("a number", (value) => typeof value === "number" && Number.isFinite(value)),
  positive: matcher("a number above zero", (value) => typeof value === "number" && value > 0),
  boolean: matcher("true or false", (value) => typeof value === "boolean"),
  list: matcher("a list", Array.isArray),
  object: matcher("an object", isObject),
  uuid: matcher("a UUID", (value) => typeof value === "string" && UUID.test(value)),
  time: matcher("an ISO 8601 time", (value) => typeof value === "string" && ISO.test(value) && !Number.isNaN(Date.parse(value))),
  absent: matcher("nothing", (value) => value === undefined),
  url: (prefix: string): Predicate => matcher(`a URL under ${prefix}`, (value) => typeof value === "string" && value.startsWith(prefix)),
  like: (pattern: RegExp): Predicate =>
    matcher(`text like ${String(pattern)}`, (value) => typeof value === "string" && pattern.test(value)),
  oneOf: (...values: unknown[]): Predicate => matcher(`one of ${JSON.stringify(values)}`, (value) => values.includes(value)),
  nullOr: (test: Predicate): Predicate => matcher(`null or ${test.description ?? "?"}`, (value) => value === null || test(value)),
  near: (number: number): Predicate => matcher(`about ${number}`, (value) => typeof value === "number" && Math.abs(value - number) < 1e-6),
  listOf: (test: Predicate): Predicate =>
    matcher(`a list of ${test.description ?? "?"}`, (value) => Array.isArray(value) && value.every((item) => test(item))),
};

const EXACTLY = Symbol("exactly");

/** A pattern for an object with exactly these members. */
export const exactly = (pattern: Record<string, unknown>): Record<string, unknown> => ({ ...pattern, [EXACTLY]: true });

const short = (value: unknown): string => (JSON.stringify(value) ?? "undefined").slice(0, 300);

/** Differences between a value and a pattern: objects by the pattern's members, lists as a whole. */
export const differences = (value: unknown, pattern: unknown, path = "body"): string[] => {
  if (typeof pattern === "function") {
    const test = pattern as Predicate;
    return test(value) ? [] : [`${path} should be ${test.description ?? "otherwise"}, is ${short(value)}`];
  }
  if (Array.isArray(pattern)) {
    if (!Array.isArray(value) || value.length !== pattern.length) {
      return [`${path} should be a list of ${pattern.length}, is ${short(value)}`];
    }
    return pattern.flatMap((item, index) => differences(value[index], item, `${path}[${index}]`));
  }
  if (isObject(pattern)) {
    if (!isObject(value)) return [`${path} should be an object, is ${short(value)}`];
    const extra = EXACTLY in pattern ? Object.keys(value).filter((name) => !Object.hasOwn(pattern, name)) : [];
    return [
      ...Object.keys(pattern).flatMap((name) => differences(value[name], pattern[name], `${path}.${name}`)),
      ...extra.map((name) => `${path}.${name} should not be there, is ${short(value[name])}`),
    ];
  }
  return Object.is(value, pattern) ? [] : [`${path} should be ${short(pattern)}, is ${short(value)}`];
};

/** Fails unless a value matches a pattern. */
export const fits = (value: unknown, pattern: unknown, what = "value"): void => {
  const problems = differences(value, pattern, what);
  if (problems.length > 0) assert.fail(problems.join("; "));
};

/** Fails unless a response has the status and a matching body. */
export const answers = (answer: Answer, status: number, pattern?: unknown): Answer => {
  const problems = [
    ...(answer.status === status ? [] : [`the status should be ${status}, is ${answer.status}`]),
    ...(pattern === undefined ? [] : differences(answer.body, pattern)),
  ];
  if (problems.length > 0) assert.fail(`${problems.join("; ")}\n${answer.text.slice(0, 500)}`);
  return answer;
};

/** Fails unless a response is an error in the common format: JSON with `error`, `code` and the code's members. */
export const refuses = (answer: Answer, status: number, code: string, extra: Record<string, unknown> = {}): Answer => {
  answers(answer, status, { error: is.text, code, ...extra });
  assert.match(answer.headers.get("content-type") ?? "", /^application\/json/);
  return answer;
};

/** Fails unless a workflow is reported as absent: 404 with only `error`. */
export const noWorkflow = (answer: Answer): Answer => answers(answer, 404, exactly({ error: is.text }));

const step = (value: unknown, name: string): unknown =>
  typeof value === "object" && value !== null ? (value as Record<string, unknown>)[name] : undefined;

/** A member of a response by its dotted path. Fails if the member is missing. */
export const pick = <T = string>(source: Answer | object, path: string): T => {
  const root: unknown = "headers" in source && "text" in source ? source.body : source;
  const value = path.split(".").reduce(step, root);
  if (value === undefined) assert.fail(`there is no ${path} in ${short(root)}`);
  return value as T;
};

/** Rows of a list, in any member of the response. */
export const rowsOf = <T = Record<string, unknown>>(answer: Answer): T[] => {
  answers(answer, 200, { rows: is.list });
  return pick<T[]>(answer, "rows");
};
