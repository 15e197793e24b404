import type { TestExpectation, WorkflowTest } from "@nodeloom/client";

/** Expectations as the form offers them: a member of the API can have two kinds of fields. */
export const EXPECTATION_FORMS = ["text", "contains", "matches", "file", "value", "schema", "jmespath", "rubric", "comparison"] as const;
export type ExpectationForm = (typeof EXPECTATION_FORMS)[number];

export type FileExpectation = NonNullable<TestExpectation["file"]>;
export type JudgeExpectation = NonNullable<TestExpectation["judge"]>;

const DEFAULT_SCORE = 4;
const NOT_WORSE = 0.5;

/** The checked part of a new expectation. */
const NEW_CHECKS: Readonly<Record<ExpectationForm, TestExpectation>> = {
  text: { equals: "" },
  contains: { contains: "" },
  matches: { matches: "" },
  file: { file: { kind: "image" } },
  value: { equals: null },
  schema: { schema: { type: "string" } },
  jmespath: { jmespath: "" },
  rubric: { judge: { model: "", rubric: "", atLeast: DEFAULT_SCORE } },
  comparison: { judge: { model: "", against: { alias: "production" }, atLeast: NOT_WORSE } },
};

/** @param path the place in the result; the empty text checks the result's only member */
export const newExpectation = (form: ExpectationForm, path = ""): TestExpectation => ({
  ...(path === "" ? {} : { path }),
  ...NEW_CHECKS[form],
});

/** An expectation of another form at the same place. The judge's model stays. */
export const inForm = (expectation: TestExpectation, form: ExpectationForm): TestExpectation => {
  const next = newExpectation(form, expectation.path);
  const model = expectation.judge?.model;
  return next.judge && model !== undefined ? { ...next, judge: { ...next.judge, model } } : next;
};

export const formOf = ({ equals, contains, matches, file, schema, judge }: TestExpectation): ExpectationForm => {
  if (typeof equals === "string") return "text";
  if (contains !== undefined) return "contains";
  if (matches !== undefined) return "matches";
  if (file) return "file";
  if (equals !== undefined) return "value";
  if (schema) return "schema";
  if (judge) return judge.against === undefined ? "rubric" : "comparison";
  return "jmespath";
};

/** Without members that have no value, which the API would refuse. */
export const compact = <T extends object>(value: T): T =>
  Object.fromEntries(Object.entries(value).filter(([, member]) => member !== undefined && member !== "")) as T;

const MAX_NAME_CHARS = 80;

/** A name that no other test has: "title", "title 2", … */
export const freeName = (name: string, tests: readonly WorkflowTest[]): string => {
  const names = new Set(tests.map((test) => test.name));
  for (let count = 1; ; count += 1) {
    const suffix = count === 1 ? "" : ` ${count}`;
    const free = `${[...name].slice(0, MAX_NAME_CHARS - suffix.length).join("")}${suffix}`;
    if (!names.has(free)) return free;
  }
};

/** The tests with a new or changed one. @param originalName name of the changed test before the change */
export const withTest = (tests: readonly WorkflowTest[], originalName: string | undefined, test: WorkflowTest): WorkflowTest[] => {
  const at = tests.findIndex(({ name }) => name === originalName);
  return at === -1 ? [...tests, test] : tests.map((one, index) => (index === at ? test : one));
};
