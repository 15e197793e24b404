/** A run of tests as JUnit XML, which CI systems show. */

export interface JunitFailure {
  kind: string;
  index?: number;
  path?: string;
  expected: unknown;
  got: unknown;
}

export interface JunitCheck extends JunitFailure {
  passed: boolean;
}

export interface JunitTest {
  name: string;
  status: string;
  durationMs: number | null;
  executionId: string;
  failures: readonly JunitFailure[];
  checks: readonly JunitCheck[];
}

const MS = 1_000;
const ESCAPES: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&apos;" };
/** Characters that XML 1.0 can't have, also escaped. */
const FORBIDDEN =
  /[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g;

const escaped = (text: string): string => text.replace(FORBIDDEN, "\ufffd").replace(/[&<>"']/g, (sign) => ESCAPES[sign]!);

const attributes = (values: Readonly<Record<string, string | number>>): string =>
  Object.entries(values)
    .map(([name, value]) => ` ${name}="${escaped(String(value)).replace(/[\n\r\t]/g, " ")}"`)
    .join("");

const seconds = (durationMs: number | null): number => (durationMs ?? 0) / MS;

const valueText = (value: unknown): string => (typeof value === "string" ? value : JSON.stringify(value));

const placeOf = ({ kind, index, path }: Pick<JunitFailure, "kind" | "index" | "path">): string =>
  `${index === undefined ? "" : `expect[${index}] `}${kind}${path === undefined ? "" : ` at ${path}`}`;

const failureXml = (failure: JunitFailure): string => {
  const text = `expected: ${valueText(failure.expected)}\ngot: ${valueText(failure.got)}`;
  return `<failure${attributes({ type: failure.kind, message: `${placeOf(failure)} failed` })}>${escaped(text)}</failure>`;
};

/** Each expectation with the measured value. */
const checksXml = (checks: readonly JunitCheck[]): string[] => {
  const lines = checks.map((check) => {
    const { passed, expected, got } = check;
    return `${passed ? "ok" : "failed"} ${placeOf(check)}: expected ${valueText(expected)}, got ${valueText(got)}`;
  });
  return lines.length === 0 ? [] : [`<system-out>${escaped(lines.join("\n"))}</system-out>`];
};

/** A failed test without failures, because its results were deleted. */
const UNTOLD = `<failure type="status" message="the test failed; its results were deleted since"/>`;

const testXml = ({ name, status, durationMs, executionId, failures, checks }: JunitTest, classname: string): string => {
  const lines = status === "failed" && failures.length === 0 ? [UNTOLD] : failures.map(failureXml);
  if (status !== "passed" && status !== "failed") lines.push("<skipped/>");
  const properties = `<properties><property${attributes({ name: "executionId", value: executionId })}/></properties>`;
  lines.push(...checksXml(checks));
  return `<testcase${attributes({ name, classname, time: seconds(durationMs) })}>${properties}${lines.join("")}</testcase>`;
};

/** @param name of the suite: the workflow's slug */
export const junitXml = (name: string, tests: readonly JunitTest[]): string => {
  const counts = {
    tests: tests.length,
    failures: tests.filter(({ status }) => status === "failed").length,
    skipped: tests.filter(({ status }) => status !== "failed" && status !== "passed").length,
    time: tests.reduce((sum, { durationMs }) => sum + seconds(durationMs), 0),
  };
  const suite = `<testsuite${attributes({ name, ...counts })}>${tests.map((test) => testXml(test, name)).join("")}</testsuite>`;
  return `<?xml version="1.0" encoding="UTF-8"?>\n<testsuites>${suite}</testsuites>\n`;
};
