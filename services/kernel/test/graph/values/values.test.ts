import {
  bindItems,
  buildResult,
  callInputs,
  createBudget,
  inputFields,
  knownSource,
  resolveInputs,
  savedValues,
  schemaViolations,
} from "@nodeloom/kernel";
import { graphOf, input, type Node } from "../../support";

const nothing = (): undefined => undefined;

describe("fan-out", () => {
  it("never makes more calls than credits are held for", () => {
    const step = { sources: { prompt: [{ node: "pic", port: "image" }] }, listPorts: [], maxItems: 1 };
    expect(() => bindItems(step, () => ["a", "b"])).toThrow(/at most 1 are allowed/);
    expect(bindItems(step, () => "a").items).toEqual([{ prompt: "a" }]);
  });

  const step = (sources: Record<string, unknown>): Parameters<typeof bindItems>[0] => ({
    sources: Object.fromEntries(Object.entries(sources).map(([name, value]) => [name, [knownSource(value)]])),
    listPorts: ["all"],
  });

  it("maps two lists pairwise and repeats single values", () => {
    expect(bindItems(step({ a: [1, 2], b: ["x", "y"], c: "same", all: [7] }), nothing)).toEqual({
      mapped: true,
      items: [
        { a: 1, b: "x", c: "same", all: [7] },
        { a: 2, b: "y", c: "same", all: [7] },
      ],
    });
  });

  it("rejects lists of different lengths", () => {
    expect(() => bindItems(step({ a: [1, 2], b: ["x"] }), nothing)).toThrow(/lengths must agree/);
  });

  it("joins several edges into one list in edge order", () => {
    const sources = { prompt: [{ value: "a" }, { value: ["b", "c"] }, { value: "d" }] };
    expect(bindItems({ sources, listPorts: [] }, nothing).items.map((item) => item.prompt)).toEqual(["a", "b", "c", "d"]);
  });
});

describe("the result", () => {
  it("collects media as URLs, joins text and passes other names unchanged", () => {
    const file = { url: "https://m/a.png", contentType: "image/png" };
    const result = buildResult(
      {
        images: [{ value: file }, { value: [file, file] }],
        text: [{ value: ["one", "two"] }],
        meta: [{ value: { a: 1 } }],
        many: [{ value: 1 }, { value: 2 }],
      },
      nothing,
    );
    expect(result).toEqual({
      images: [{ url: file.url }, { url: file.url }, { url: file.url }],
      text: "one\n\ntwo",
      meta: { a: 1 },
      many: [1, 2],
    });
  });
});

describe("inputs", () => {
  const fields = inputFields(
    graphOf(
      [
        input(
          { name: "prompt", type: "text", required: true },
          { name: "size", type: "select", options: ["s", "m"], default: "m" },
          { name: "count", type: "number", min: 1, max: 4 },
          { name: "photo", type: "image_upload" },
        ),
      ],
      [],
    ),
  );

  it("finds a field by its name in composed and decomposed form", () => {
    const [field] = inputFields(graphOf([input({ name: "caf\u00e9", type: "text" })], []));
    const { values, issues } = resolveInputs([field!], { "cafe\u0301": "noir" });
    expect([issues, Object.fromEntries(values)]).toEqual([[], { "caf\u00e9": "noir" }]);
  });

  it("applies defaults only to omitted inputs", () => {
    expect(Object.fromEntries(resolveInputs(fields, { prompt: "hi" }).values)).toEqual({ prompt: "hi", size: "m" });
  });

  it.each<[Record<string, unknown>, string]>([
    [{}, "inputs.prompt"],
    [{ prompt: 3 }, "inputs.prompt"],
    [{ prompt: "x", size: "xl" }, "inputs.size"],
    [{ prompt: "x", count: 5 }, "inputs.count"],
    [{ prompt: "x", count: "2" }, "inputs.count"],
    [{ prompt: "x", photo: "ftp://a/b" }, "inputs.photo"],
    [{ prompt: "x", promt: "typo" }, "inputs.promt"],
    [{ prompt: null }, "inputs.prompt"],
  ])("rejects %j at %s", (inputValues, path) => {
    expect(resolveInputs(fields, inputValues).issues.map((issue) => issue.path)).toContain(path);
  });

  it("names the input or option that was probably meant", () => {
    const formFields = inputFields(
      graphOf(
        [input({ name: "subject", type: "text", required: true }, { name: "style", type: "select", options: ["plain", "grand"] })],
        [],
      ),
    );
    expect(resolveInputs(formFields, { subjct: "a boat", style: "grnd" }).issues.map(({ message }) => message)).toEqual([
      "is not an input of this workflow: did you mean subject?",
      "is required",
      "must be one of plain, grand: did you mean grand?",
    ]);
  });

  describe("for a list of files", () => {
    const files = (more: object = {}) =>
      inputFields(graphOf([input({ name: "photos", type: "image_upload", multiple: true, ...more })], []));
    const URLS = ["https://a.test/1.png", "data:image/png;base64,AAAA", "media-1"];

    it("keep their order, and are empty if they are omitted, null, empty text or an empty list", () => {
      expect(resolveInputs(files(), { photos: URLS }).values.get("photos")).toEqual(URLS);
      for (const inputValues of [{}, { photos: null }, { photos: "" }, { photos: [] }])
        expect(resolveInputs(files(), inputValues)).toEqual({ values: new Map([["photos", []]]), issues: [] });
    });

    it("have their default if they are omitted, and stay empty if they were emptied", () => {
      const withDefault = files({ default: ["demo"] });
      expect(resolveInputs(withDefault, {}).values.get("photos")).toEqual(["demo"]);
      for (const photos of [null, "", []]) expect(resolveInputs(withDefault, { photos }).values.get("photos")).toEqual([]);
    });

    it.each<[unknown, object, unknown[]]>([
      [["https://a.test/1.png", 7, "ftp://a"], {}, ["inputs.photos.1", "inputs.photos.2"]],
      [["data:video/mp4;base64,AAAA"], {}, ["inputs.photos.0"]],
      ["https://a.test/1.png", {}, ["inputs.photos"]],
      [Array.from({ length: 51 }, () => "media-1"), {}, ["inputs.photos"]],
      [["media-1", "media-2"], { maxItems: 1 }, ["inputs.photos"]],
      [[], { required: true }, ["inputs.photos"]],
    ])("reject %j of %j at %j", (photos, more, paths) => {
      expect(resolveInputs(files(more), { photos }).issues.map(({ path }) => path)).toEqual(paths);
    });
  });

  it("lets a file with a default be left empty by null or empty text, unless it is required", () => {
    const [photo] = inputFields(graphOf([input({ name: "photo", type: "image_upload", default: "demo" })], []));
    for (const value of [null, ""]) {
      expect(resolveInputs([photo!], { photo: value })).toEqual({ values: new Map(), issues: [] });
      expect(resolveInputs([{ ...photo!, required: true }], { photo: value }).issues).toMatchObject([
        { path: "inputs.photo", code: "REQUIRED" },
      ]);
    }
  });

  it("limits texts by visible characters", () => {
    const [field] = inputFields(graphOf([input({ name: "line", type: "text", min: 2, max: 3 })], []));
    const problems = ["🧵", "🧵🧵", "🧵🧵🧵", "🧵🧵🧵🧵"].map((line) =>
      resolveInputs([field!], { line }).issues.map(({ message }) => message),
    );
    expect(problems).toEqual([["its length must be at least 2"], [], [], ["its length must be at most 3"]]);
  });

  it("reads saved values, then defaults, then null", () => {
    const node: Node = {
      id: "in",
      type: "request-input",
      data: { fields: [{ name: "a" }, { name: "b", default: 2 }, { name: "c" }], values: { a: 1 } },
    };
    expect(savedValues(graphOf([node], []))).toEqual({ a: 1, b: 2, c: null });
  });

  it("limits each text in JSON; their sum counts with the run's other values", () => {
    const fields = inputFields(graphOf([input({ name: "any", type: "json" })], []));
    const problems = (any: unknown) => resolveInputs(fields, { any }).issues.map(({ message }) => message);
    expect(problems(Array.from({ length: 40 }, () => "x".repeat(20_000)))).toEqual([]);
    expect(problems({ a: ["x".repeat(262_145)] })).toEqual(["has a text longer than 262144 bytes"]);
  });

  it("rejects an integer for a number field that a double would round, and names the largest allowed one", () => {
    const [field] = inputFields(graphOf([input({ name: "n", type: "number" })], []));
    expect(resolveInputs([field!], { n: "7615917337495251231" }).issues[0]?.message).toMatch(/^must be at most 9007199254740991/);
    expect(resolveInputs([field!], { n: 9_007_199_254_740_991 }).issues).toEqual([]);
    const step = { literals: {}, textPorts: [], numberPorts: ["seed"], inputNames: ["seed"], listPorts: [] };
    expect(() => callInputs(step, { seed: "18446744073709551615" })).toThrow("seed: must be at most 9007199254740991");
    expect(schemaViolations({ type: "integer" }, "18446744073709551615", createBudget())[0]?.message).toMatch(/^must be at most/);
  });

  it("rejects JSON numbers that would become null, and accepts the largest finite ones", () => {
    const [field] = inputFields(graphOf([input({ name: "any", type: "json" })], []));
    const problems = ["1e400", '{"a":[-1e400]}', "1e308", '{"a":[null,"1e400"]}'].map((any) =>
      resolveInputs([field!], { any: JSON.parse(any) }).issues.map(({ message }) => message),
    );
    expect(problems).toEqual([["has a number that is too large"], ["has a number that is too large"], [], []]);
  });
});
