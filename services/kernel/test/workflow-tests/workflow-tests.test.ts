import { judgeTest, resultDifferences, TEST_BOUNDS, testProblems, type Expectation, type TestedRun, type WorkflowTest } from "../../src";

const URL = "http://public.test/media/a.png";
const picture = { contentType: "image/png", bytes: 900, width: 640, height: 480 };

const runOf = (result: unknown, more: Partial<TestedRun> = {}): TestedRun => ({
  ...{ status: "completed", error: null, result, millicredits: 1_500, durationMs: 800 },
  fileAt: (url) => (url === URL ? picture : undefined),
  ...more,
});
const testOf = (expect: Expectation[], more: Partial<WorkflowTest> = {}): WorkflowTest => ({ name: "x", inputs: {}, expect, ...more });
const isPassed = (expectation: Expectation, result: unknown): boolean => judgeTest(testOf([expectation]), runOf(result)).length === 0;

describe("expectations", () => {
  const text = { title: "A loom", n: 3, list: ["a", "b"], json: '{"n": 2}' };
  const file = { images: [{ url: URL, id: "a" }] };
  it.each<[Expectation, unknown, boolean]>([
    [{ equals: "hello" }, { text: "hello" }, true],
    [{ equals: { b: [1], a: 2 } }, { out: { a: 2, b: [1] } }, true],
    [{ equals: { a: 2 } }, { out: { a: 2, b: 1 } }, false],
    [{ path: "title", matches: "^A l" }, text, true],
    [{ path: "title", matches: "^l" }, text, false],
    [{ path: "list", contains: "b" }, text, true],
    [{ path: "list", contains: "c" }, text, false],
    [{ path: "title", contains: "loom" }, text, true],
    [{ path: "missing", contains: "loom" }, text, false],
    [{ path: "n", schema: { type: "integer", maximum: 3 } }, text, true],
    [{ path: "n", schema: { type: "integer", maximum: 2 } }, text, false],
    [{ path: "json", schema: { required: ["n"], type: "object" } }, text, true],
    [{ jmespath: "n == `3`" }, text, true],
    [{ jmespath: "n" }, text, false],
    [{ path: "images", file: { kind: "image", width: 640, bytes: { max: 1_000 } } }, file, true],
    [{ path: "images[0]", file: { contentType: "image/png" } }, file, true],
    [{ path: "images", file: { height: { min: 481 } } }, file, false],
    [{ path: "images", file: { durationMs: { min: 0 } } }, file, false],
    [{ path: "images", file: { kind: "video" } }, file, false],
    [{ path: "images", file: { kind: "image" } }, { images: [] }, false],
    [{ path: "images", file: { kind: "image" } }, { images: [{ url: "http://public.test/media/foreign.png" }] }, false],
  ])("%j of %j holds: %s", (expectation, result, holds) => {
    expect(isPassed(expectation, result)).toBe(holds);
  });

  it("reports the expected and the actual value", () => {
    const failures = judgeTest(
      testOf([
        { path: "images", file: { width: 100, kind: "image" } },
        { path: "t", equals: "x" },
      ]),
      runOf({ ...file, t: "y" }),
    );
    expect(failures).toEqual([
      { kind: "file", index: 0, path: "images", expected: { width: 100, kind: "image" }, got: { width: 640 } },
      { kind: "equals", index: 1, path: "t", expected: "x", got: "y" },
    ]);
  });

  it("compares the price of all calls and the time with their limits", () => {
    const kindsOf = (more: Partial<WorkflowTest>) => judgeTest(testOf([], more), runOf({})).map(({ kind }) => kind);
    expect([kindsOf({ maxCredits: 1.5, maxMs: 800 }), kindsOf({ maxCredits: 1.4 }), kindsOf({ maxMs: 799 })]).toEqual([
      [],
      ["maxCredits"],
      ["maxMs"],
    ]);
  });

  it("checks only the end of a run that didn't complete", () => {
    const failed = runOf(undefined, { status: "failed", error: { code: "EXECUTION_FAILED", message: "no" } });
    expect(judgeTest(testOf([{ equals: 1 }], { maxCredits: 0 }), failed)).toEqual([
      { kind: "status", expected: "completed", got: "failed: EXECUTION_FAILED: no" },
    ]);
  });

  it("fails if an expectation takes too much work, and never quotes long values whole", () => {
    const long = "a".repeat(900_000);
    const started = performance.now();
    const failures = judgeTest(testOf(Array.from({ length: 20 }, () => ({ matches: "(a|b|c|d)*z$" }))), runOf({ text: long }));
    expect(performance.now() - started).toBeLessThan(2_000);
    expect(failures).toHaveLength(20);
    expect(failures.at(-1)!.got).toMatch(/^not checked: /);
    const [quoted] = judgeTest(testOf([{ equals: "x" }]), runOf({ text: long }));
    expect(String(quoted!.got).length).toBe(TEST_BOUNDS.quotedChars + 1);
  });
});

describe("differences", () => {
  it("names each differing member; files are equal if their addresses are", () => {
    const before = { text: "a", images: [{ url: URL, id: "1" }], "odd name": { x: 1 } };
    expect(resultDifferences({ ...before, images: [{ url: URL, id: "2" }] }, before)).toEqual([]);
    expect(resultDifferences({ text: "b", images: [], "odd name": { x: 2 }, more: 1 }, before)).toEqual([
      { path: "text", now: "b", before: "a" },
      { path: "images[0]", now: null, before: URL },
      { path: '"odd name".x', now: 2, before: 1 },
      { path: "more", now: 1, before: null },
    ]);
  });
});

describe("problems of tests", () => {
  it("accepts tests with every kind of expectation", () => {
    const expectations: Expectation[] = [
      { equals: null },
      { path: "a[0].b", matches: "^x" },
      { contains: "x" },
      { schema: { type: "string" } },
      { jmespath: "length(@) > `1`" },
      { file: { kind: "audio", durationMs: { min: 1 }, loudness: { min: -20, max: -14 } } },
      { file: { similarTo: { file: URL, by: "hash", atLeast: 0.8 }, text: { contains: "sale" } } },
      { judge: { model: "m", rubric: "It is kind.", atLeast: 4 } },
      { judge: { model: "m", against: { alias: "production" }, atLeast: 0.5, votes: 2 } },
    ];
    expect(testProblems([testOf(expectations, { maxCredits: 0, maxMs: 1 })])).toEqual([]);
  });

  it.each<[unknown, string]>([
    [{}, "tests"],
    [[1], "tests[0]"],
    [[testOf([], { name: " " })], "tests[0].name"],
    [[testOf([]), testOf([])], "tests[1].name"],
    [[testOf([{}])], "tests[0].expect[0]"],
    [[testOf([{ equals: 1, contains: "x" }])], "tests[0].expect[0]"],
    [[testOf([{ matches: "(" }])], "tests[0].expect[0].matches"],
    [[testOf([{ path: "a[", contains: "x" }])], "tests[0].expect[0].path"],
    [[testOf([{ file: { width: -1 } }])], "tests[0].expect[0].file.width"],
    [[testOf([{ file: {} }])], "tests[0].expect[0].file"],
    [[testOf([{ file: { loudness: { min: 1, max: 0 } } }])], "tests[0].expect[0].file.loudness"],
    [[testOf([{ file: { similarTo: { file: "" } } }])], "tests[0].expect[0].file.similarTo.file"],
    [[testOf([{ file: { text: {} } }])], "tests[0].expect[0].file.text"],
    [[testOf([{ judge: { model: "", rubric: "x", atLeast: 1 } }])], "tests[0].expect[0].judge.model"],
    [[testOf([{ judge: { model: "m", atLeast: 1 } }])], "tests[0].expect[0].judge"],
    [[testOf([{ judge: { model: "m", rubric: "x", against: { version: 1 }, atLeast: 1 } }])], "tests[0].expect[0].judge"],
    [[testOf([{ judge: { model: "m", rubric: "x", atLeast: 0 } }])], "tests[0].expect[0].judge.atLeast"],
    [[testOf([{ judge: { model: "m", against: {}, atLeast: 1 } }])], "tests[0].expect[0].judge.against"],
    [[testOf([{ judge: { model: "m", against: { version: 1 }, atLeast: 2 } }])], "tests[0].expect[0].judge.atLeast"],
    [[testOf([{ judge: { model: "m", rubric: "x", atLeast: 1, votes: 6 } }])], "tests[0].expect[0].judge.votes"],
    [
      [
        testOf([
          { judge: { model: "m", against: { version: 1 }, atLeast: 1 } },
          { judge: { model: "m", against: { version: 2 }, atLeast: 1 } },
        ]),
      ],
      "tests[0].expect[1].judge.against",
    ],
    [[testOf([], { maxMs: TEST_BOUNDS.milliseconds + 1 })], "tests[0].maxMs"],
    [[{ ...testOf([]), more: 1 }], "tests[0].more"],
    [[testOf(Array.from({ length: 21 }, () => ({ equals: 1 })))], "tests[0].expect"],
    [[testOf([], { inputs: { text: "x".repeat(TEST_BOUNDS.bytes) } })], "tests"],
  ])("names the path: %#", (tests, path) => {
    expect(testProblems(tests).map((issue) => issue.path)).toEqual([path]);
  });
});
