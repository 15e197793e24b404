import {
  holdItems,
  MEDIA_OPERATIONS,
  missingGroups,
  operationIssues,
  planRun,
  withDefaults,
  type GraphNode,
  type MediaValue,
  type PlanResult,
} from "../../../src";
import { inputSchemaProblems } from "../../../src/graph/json-schema/read";

const PICTURE: MediaValue = { url: "http://files.test/media/picture", contentType: "image/png" };
const SOUND: MediaValue = { url: "http://files.test/media/sound", contentType: "audio/wav" };

const edge = (from: string, to: string) => {
  const [[source, sourceHandle], [target, targetHandle]] = [from.split("."), to.split(".")];
  return { id: `${from} ${to}`, source: source!, sourceHandle: sourceHandle ?? null, target: target!, targetHandle: targetHandle ?? null };
};
const node = (id: string, type: string, data: Record<string, unknown> = {}): GraphNode => ({ id, type, data });
const file = node("file", "media-upload", { mediaId: "picture" });
const sound = node("sound", "media-upload", { mediaId: "sound" });
const out = node("out", "response-output");
const pictures = node("pictures", "list", { items: [PICTURE, PICTURE, PICTURE] });

const plan = (nodes: GraphNode[], ...edges: [string, string][]): PlanResult =>
  planRun({
    graph: { nodes, edges: edges.map(([from, to]) => edge(from, to)), issues: [] },
    inputs: new Map(),
    models: new Map(),
    media: new Map([
      ["picture", PICTURE],
      ["sound", SOUND],
    ]),
    markupPermille: 1_000,
    storage: "http://files.test/media/",
  });
const issuesOf = (planned: PlanResult): string[] => planned.issues.map(({ message }) => message);
const stepsOf = ({ plan: runPlan, issues }: PlanResult) => {
  if (!runPlan) throw new Error(JSON.stringify(issues));
  return runPlan.steps;
};

describe("the operations on files", () => {
  it.each(MEDIA_OPERATIONS.map((operation) => [operation.name, operation] as const))(
    "%s has inputs with valid schemas",
    (name, operation) => {
      const { schema, oneOf = [], output } = operation;
      expect(inputSchemaProblems(schema)).toEqual([]);
      const properties = schema.properties as Record<string, { default?: unknown; title?: unknown; format?: unknown }>;
      const names = Object.keys(properties);
      expect([...(schema.required as string[]), ...oneOf.flat()].filter((one) => !names.includes(one))).toEqual([]);
      expect(names.filter((one) => typeof properties[one]!.title !== "string")).toEqual([]);
      // Default values must satisfy the schema.
      const problems = operationIssues(operation, withDefaults(operation, {})).filter(({ message }) => !/required/.test(message));
      expect(problems).toEqual([]);
      expect(name.startsWith(`${output}-`) || output === "image").toBe(true);
    },
  );

  it("have unique names", () => {
    expect(new Set(MEDIA_OPERATIONS.map(({ name }) => name)).size).toBe(MEDIA_OPERATIONS.length);
  });

  it("use defaults for unset inputs", () => {
    const resize = MEDIA_OPERATIONS.find(({ name }) => name === "image-resize")!;
    expect(withDefaults(resize, { width: 5, fit: null, height: "" })).toEqual({
      width: 5,
      fit: "inside",
      enlarge: true,
      sharpen: 0,
      background: "#000000",
    });
    expect(missingGroups(resize, () => false)).toEqual(["needs one of width, height"]);
  });
});

describe("a media node", () => {
  it("takes a list into a list port as one call", () => {
    const grid = node("grid", "media", { operation: "image-grid" });
    const [step] = stepsOf(plan([pictures, grid, out], ["pictures.items", "grid.images"], ["grid.image", "out.images"]));
    expect(step).toMatchObject({ operation: "image-grid", maxItems: 1, listPorts: ["images"] });
  });

  it("runs once for each item of a list at any other port", () => {
    const small = node("small", "media", { operation: "image-resize", width: 9 });
    const [step] = stepsOf(plan([pictures, small, out], ["pictures.items", "small.image"], ["small.image", "out.images"]));
    expect(step).toMatchObject({ operation: "image-resize", maxItems: 3 });
  });

  it("is linked through its default ports", () => {
    const small = node("small", "media", { operation: "image-resize", width: 9 });
    const [step] = stepsOf(plan([file, small, out], ["file", "small"], ["small", "out"]));
    expect(Object.keys(step!.sources)).toEqual(["image"]);
  });

  it("holds nothing, names no model, and its files need no copy", () => {
    const planned = plan([file, node("a", "media", { operation: "image-resize", width: 9 }), out], ["file", "a"], ["a", "out"]);
    expect(holdItems(planned.plan!)).toEqual([]);
    expect(planned.plan!.models).toEqual({});
    expect(stepsOf(planned).map(({ id }) => id)).toEqual(["a"]);
  });

  it("takes settings from ports, which are checked as soon as they are known", () => {
    const width = node("width", "text-box", { text: "90000" });
    const small = node("small", "media", { operation: "image-resize" });
    const issues = issuesOf(plan([width, file, small, out], ["width.text", "small.width"], ["file", "small.image"], ["small", "out"]));
    expect(issues).toEqual([expect.stringMatching(/^width: must be/)]);
    const fitting = node("width", "text-box", { text: "90" });
    expect(issuesOf(plan([fitting, file, small, out], ["width.text", "small.width"], ["file", "small.image"], ["small", "out"]))).toEqual(
      [],
    );
  });

  it("is rejected if it can't run, with the next step", () => {
    const of = (data: Record<string, unknown>, ...edges: [string, string][]): string[] =>
      issuesOf(plan([file, sound, node("m", "media", data), out], ["m", "out"], ...edges));
    expect(of({})).toEqual(expect.arrayContaining([expect.stringContaining("needs an operation: one of image-resize")]));
    expect(of({ operation: "video-concatt" })).toEqual(
      expect.arrayContaining(["operation: there is no video-concatt: did you mean video-concat?"]),
    );
    expect(of({ operation: "image-resize" }, ["file", "m.image"])).toEqual(["needs one of width, height"]);
    const empty = node("in", "request-input", { fields: [{ name: "width", type: "number" }] });
    const resize = node("m", "media", { operation: "image-resize" });
    expect(issuesOf(plan([empty, file, resize, out], ["file", "m.image"], ["in.width", "m.width"], ["m", "out"]))).toEqual([
      "needs one of width, height",
    ]);
    expect(of({ operation: "image-resize", width: 9 })).toEqual(["image: is required"]);
    expect(of({ operation: "image-resize", width: "wide" }, ["file", "m.image"])[0]).toMatch(/^width: /);
    expect(of({ operation: "image-crop", aspect: "wide" }, ["file", "m.image"])[0]).toMatch(/^aspect: /);
    expect(of({ operation: "image-resize", width: 9 }, ["sound", "m.image"])[0]).toMatch(/must be an image, but is an audio file/);
    const document = { data: { operation: "image-resize", width: 9, image: "data:application/pdf;base64,JVBERi0=" } };
    expect(issuesOf(plan([node("m", "media", document.data), out], ["m", "out"]))[0]).toMatch(
      /must be an image, but is a file in a format/,
    );
  });

  it("warns about misspelt settings", () => {
    const { plan: runPlan } = plan(
      [file, node("m", "media", { operation: "image-resize", widht: 5, width: 5 }), out],
      ["file", "m"],
      ["m", "out"],
    );
    expect(runPlan!.warnings.m).toEqual(["there is no setting widht: did you mean width?"]);
  });
});

describe("a file node with several files", () => {
  const files = (mediaIds: unknown, multiple: unknown = true) => node("files", "media-upload", { multiple, mediaIds });

  it("gives a list in its order, so that the next node runs once for each file", () => {
    const resized = node("resized", "media", { operation: "image-resize", width: 100 });
    const planned = plan(
      [files(["picture", "picture", "picture"]), resized, out],
      ["files.media", "resized.image"],
      ["resized.image", "out.images"],
    );
    expect(stepsOf(planned).map(({ maxItems }) => maxItems)).toEqual([3]);
  });

  it("takes mediaId alone without multiple", () => {
    const one = node("one", "media-upload", { mediaId: "picture", mediaIds: ["sound", "sound"] });
    expect(issuesOf(plan([one, out], ["one.media", "out.images"]))).toEqual([]);
  });

  it.each<[string, unknown, unknown, RegExp]>([
    ["a list without files", [], true, /^needs a file: set mediaId, or mediaIds with multiple$/],
    ["an unknown file", ["picture", "none"], true, /^you have no media file none$/],
    ["no list", "picture", true, /^mediaIds: must be a list of at most 1000 ids$/],
    ["too many files", Array.from({ length: 1_001 }, () => "picture"), true, /^mediaIds: must be a list of at most 1000 ids$/],
    ["an item that is no id", ["picture", 7], true, /^mediaIds.1: must be the id of an uploaded file$/],
    ["multiple that is no boolean", ["picture"], "yes", /^multiple: must be true or false$/],
  ])("rejects %s", (_, mediaIds, multiple, message) => {
    expect(issuesOf(plan([files(mediaIds, multiple), out], ["files.media", "out.images"]))).toContainEqual(expect.stringMatching(message));
  });
});
