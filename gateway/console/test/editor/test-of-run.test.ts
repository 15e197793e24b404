import type { Execution, NodeState } from "@nodeloom/client";
import { formOf, freeName, inForm, withTest } from "../../src/editor/tests/expectations";
import { testOfRun } from "../../src/editor/tests/test-of-run";

Object.assign(globalThis, { location: { origin: "http://127.0.0.1:8080" }, GATEWAY_ORIGIN: "" });

const image = { url: "https://x.test/media/a.png", contentType: "image/png", width: 512, height: 256 };
const execution = (more: Partial<Execution>): Execution =>
  ({
    status: "completed",
    nodes: [],
    modelIds: ["m"],
    inputs: {},
    result: {},
    creditsCost: 0,
    durationMs: 0,
    ...more,
  }) as unknown as Execution;
const node = (more: Partial<NodeState>): NodeState =>
  ({ id: "n", type: "generate-image", status: "completed", ...more }) as unknown as NodeState;

describe("a test from a finished run", () => {
  it("has the run's inputs, the kinds of its files, and margins for price and time", () => {
    const run = execution({
      inputs: { photo: "https://x.test/b.png", topic: "a\nboat" },
      result: { images: [image, image] },
      creditsCost: 2.5,
      durationMs: 8_300,
    });
    expect(testOfRun(run, []).test).toEqual({
      name: "a boat",
      inputs: run.inputs,
      expect: [{ path: "images", file: { kind: "image", width: 512, height: 256 } }],
      maxCredits: 3,
      maxMs: 17_000,
    });
  });

  it("leaves sizes out that differ, and gives clips a range of durations", () => {
    const clip = { url: "https://x.test/media/a.mp4", contentType: "video/mp4", durationMs: 5_000 };
    const { expect: expectations } = testOfRun(
      execution({ result: { images: [image, { ...image, width: 300 }], "my clip": clip } }),
      [],
    ).test;
    expect(expectations).toEqual([
      { path: "images", file: { kind: "image" } },
      { path: '"my clip"', file: { kind: "video", durationMs: { min: 4_500, max: 5_500 } } },
    ]);
  });

  it("suggests exact values that a model wrote, and expects those that no model wrote", () => {
    const result = { title: "Dusk", count: 3, gone: null, long: "x".repeat(3_000) };
    const exact = [
      { path: "title", equals: "Dusk" },
      { path: "count", equals: 3 },
    ];
    expect(testOfRun(execution({ result }), [])).toMatchObject({ test: { expect: [] }, suggestions: exact });
    expect(testOfRun(execution({ result, modelIds: [] }), [])).toMatchObject({ test: { expect: exact }, suggestions: [] });
  });

  it("has no limits if calls were reused, because they cost nothing and took no time", () => {
    const nodes = [node({ calls: [{ item: 0, reusedFrom: "other" }] as NodeState["calls"] })];
    const { test } = testOfRun(execution({ nodes, creditsCost: 1, durationMs: 1_000 }), []);
    expect([test.maxCredits, test.maxMs]).toEqual([undefined, undefined]);
  });
});

describe("the list of tests", () => {
  const test = (name: string) => ({ name, inputs: {}, expect: [] });

  it("gives each test its own name within 80 characters", () => {
    expect(freeName("dusk", [test("dusk"), test("dusk 2")])).toBe("dusk 3");
    const long = "x".repeat(80);
    expect([...freeName(long, [test(long)])]).toHaveLength(80);
  });

  it("replaces a renamed test in its place, and adds one that others deleted meanwhile", () => {
    expect(withTest([test("a"), test("b")], "a", test("c")).map(({ name }) => name)).toEqual(["c", "b"]);
    expect(withTest([test("b")], "a", test("c")).map(({ name }) => name)).toEqual(["b", "c"]);
  });
});

describe("the form of an expectation", () => {
  it.each([
    ["text", { equals: "" }],
    ["value", { equals: null }],
    ["value", { equals: false }],
    ["contains", { contains: "" }],
    ["jmespath", { jmespath: "" }],
    ["rubric", { judge: { model: "m", rubric: "", atLeast: 4 } }],
    ["comparison", { judge: { model: "m", against: { alias: "a" }, atLeast: 0.5 } }],
  ])("is %s for %j", (form, expectation) => {
    expect(formOf(expectation)).toBe(form);
  });

  it("keeps the place and the judge's model when the kind changes", () => {
    expect(inForm({ path: "title", judge: { model: "m", rubric: "r", atLeast: 2 } }, "comparison")).toEqual({
      path: "title",
      judge: { model: "m", against: { alias: "production" }, atLeast: 0.5 },
    });
    expect(inForm({ path: "title", equals: "x" }, "contains")).toEqual({ path: "title", contains: "" });
  });
});
