import { inputFields, planRun } from "@nodeloom/kernel";
import { graphOf, input, issues, MODELS, OUT, type Edge, type Node } from "../../support";
import { growth } from "../../../../../test-support/growth";

describe("a graph that can't run", () => {
  it.each<[string, Node[], Edge[], string | null, RegExp]>([
    [
      "a cycle",
      [
        { id: "a", type: "text-box", data: { text: "{{x}}" } },
        { id: "b", type: "text-box", data: { text: "{{x}}" } },
      ],
      [
        ["a.text", "b.x"],
        ["b.text", "a.x"],
      ],
      "a",
      /cycle/,
    ],
    ["an unknown kind", [{ id: "a", type: "teleport" }], [], "a", /no node kind teleport/],
    ["a misspelt kind", [{ id: "a", type: "text-bx" }], [], "a", /no node kind text-bx: did you mean text-box\?$/],
    [
      "an unknown field type",
      [input({ name: "n", type: "nubmer" })],
      [],
      "in",
      /^field n: there is no type nubmer: did you mean number\?$/,
    ],
    ["a type of no field", [input({ name: "n", type: "constructor" })], [], "in", /^field n: there is no type constructor$/],
    [
      "a default of another type",
      [input({ name: "n", type: "number", default: "4" })],
      [],
      "in",
      /^field n: its default does not fit: must be a number$/,
    ],
    [
      "a default past its bounds",
      [input({ name: "n", type: "number", max: 3, default: 4 })],
      [],
      "in",
      /field n: its default does not fit: it must be at most 3$/,
    ],
    ["a default that is no option", [input({ name: "n", type: "select", options: ["a"], default: "" })], [], "in", /one of a$/],
    ["a default that is no file", [input({ name: "n", type: "image_upload", default: 5 })], [], "in", /must be an image/],
    ["a missing model", [{ id: "a", type: "generate-image", data: {} }], [], "a", /needs a model/],
    ["an unknown model", [{ id: "a", type: "generate-image", data: { model: "nope" } }], [], "a", /no enabled model nope/],
    [
      "a model of another kind",
      [{ id: "a", type: "generate-image", data: { model: "clip", inputs: { prompt: "p" } } }],
      [],
      "a",
      /needs a model that generates image/,
    ],
    ["a missing input", [{ id: "a", type: "generate-image", data: { model: "pic", inputs: {} } }], [], "a", /prompt: is required/],
    ["a bad input", [{ id: "a", type: "generate-image", data: { model: "pic", inputs: { prompt: "p", count: 9 } } }], [], "a", /count/],
    ["an edge from nowhere", [OUT], [["ghost.text", "out.text"]], "out", /ghost, which does not exist/],
    ["an unknown port", [{ id: "t", type: "text-box", data: { text: "x" } }, OUT], [["t.nope", "out.text"]], "out", /no output nope/],
    [
      "media into a number",
      [
        { id: "a", type: "generate-image", data: { model: "pic", inputs: { prompt: "p" } } },
        { id: "b", type: "generate-video", data: { model: "clip", inputs: { prompt: "p" } } },
      ],
      [["a.image", "b.seconds"]],
      "b",
      /can't flow/,
    ],
    [
      "a list that is too long",
      [
        { id: "l", type: "list", data: { items: Array.from({ length: 51 }, () => "x") } },
        { id: "a", type: "generate-image", data: { model: "pic" } },
      ],
      [["l.items", "a.prompt"]],
      "a",
      /at most 50/,
    ],
    [
      "two nodes with one id",
      [
        { id: "a", type: "note" },
        { id: "a", type: "note" },
      ],
      [],
      "a",
      /same id/,
    ],
  ])("names %s", (_, nodes, edges, nodeId, message) => {
    expect(issues(nodes, edges)).toContainEqual({ nodeId, message: expect.stringMatching(message) as string });
  });

  it("suggests a model if all models are known", () => {
    const nodes = [{ id: "a", type: "generate-image", data: { model: "pci" } }];
    const request = { graph: graphOf(nodes, []), inputs: new Map(), models: MODELS, media: new Map(), markupPermille: 1_500 };
    expect(planRun({ ...request, modelNames: ["clip", "pic"] }).issues).toMatchObject([
      { nodeId: "a", message: "there is no enabled model pci: did you mean pic?" },
    ]);
  });

  it("treats null as no default, except for JSON", () => {
    expect(
      inputFields(graphOf([input({ name: "n", type: "number", default: null }, { name: "j", type: "json", default: null })], [])),
    ).toEqual([expect.not.objectContaining({ default: null }), expect.objectContaining({ default: null })]);
  });

  it("lists every problem at once", () => {
    expect(
      issues(
        [
          { id: "a", type: "teleport" },
          { id: "b", type: "generate-image", data: {} },
          { id: "c", type: "http-request", data: {} },
        ],
        [],
      ),
    ).toHaveLength(3);
  });

  it("doesn't report nodes after a cycle", () => {
    const box = (id: string): Node => ({ id, type: "text-box", data: { text: "{{x}}" } });
    const graphIssues = issues(
      [box("a"), box("b"), box("after")],
      [
        ["a.text", "b.x"],
        ["b.text", "a.x"],
        ["b.text", "after.x"],
      ],
    );
    expect(graphIssues.map((issue) => issue.nodeId)).toEqual(["a", "b"]);
  });
});

describe("a graph that would grow without limits", () => {
  const chain = (count: number, type: string, data: (index: number) => Record<string, unknown>): Node[] =>
    Array.from({ length: count }, (_, index) => ({ id: `n${index}`, type, data: data(index) }));

  it("is rejected if texts made of texts exceed the limit", () => {
    const nodes = chain(40, "text-box", () => ({ text: "{{a}}{{a}}" }));
    const edges = nodes.slice(1).map((_, index): Edge => [`n${index}.text`, `n${index + 1}.a`]);
    const graphIssues = issues([input({ name: "a", type: "text" }), ...nodes], [["in.a", "n0.a"], ...edges]);
    expect(graphIssues).toEqual([]);
    const long = planRun({
      graph: graphOf([input({ name: "a", type: "text" }), ...nodes], [["in.a", "n0.a"], ...edges]),
      inputs: new Map([["a", "x".repeat(1_000)]]),
      models: MODELS,
      media: new Map(),
      markupPermille: 1_500,
    });
    expect(long.issues[0]!.message).toMatch(/its text would be longer than 262144 bytes/);
  });

  it.each<[string, string, string]>([
    ["what stands in it already", `${"x".repeat(200_000)}{{a}}`, "y".repeat(100_000)],
    ["letters of more than one byte", "{{a}}{{a}}", "ü".repeat(70_000)],
  ])("is rejected if a text exceeds the limit by %s", (_by, text, a) => {
    const nodes = [input({ name: "a", type: "text" }), { id: "t", type: "text-box", data: { text } }];
    const graph = graphOf(nodes, [["in.a", "t.a"]]);
    const run = planRun({ graph, inputs: new Map([["a", a]]), models: MODELS, media: new Map(), markupPermille: 1_500 });
    expect(run.issues).toMatchObject([{ nodeId: "t", message: "its text would be longer than 262144 bytes" }]);
  });

  it("is rejected if lists made of lists exceed the limit", () => {
    const nodes = chain(40, "list", (index) => ({ items: index === 0 ? ["a"] : [] }));
    const edges = nodes.slice(1).flatMap((_, index): Edge[] => [
      [`n${index}.items`, `n${index + 1}.items`],
      [`n${index}.items`, `n${index + 1}.items`],
    ]);
    expect(issues(nodes, edges)[0]!.message).toMatch(/it has 1024 items/);
  });

  it("is rejected if one value is used so often that the plan exceeds the limit", () => {
    const nodes = chain(100, "http-request", () => ({ url: "https://example.com" }));
    const edges = nodes.map((_, index): Edge => ["in.a", `n${index}.body`]);
    const run = planRun({
      graph: graphOf([input({ name: "a", type: "text" }), ...nodes], edges),
      inputs: new Map([["a", "x".repeat(250_000)]]),
      models: MODELS,
      media: new Map(),
      markupPermille: 1_500,
    });
    expect(run.issues).toMatchObject([{ nodeId: "n32", message: "the values of this run exceed 8 MB" }]);
  });

  it("is rejected if it makes more calls than a run can have", () => {
    const nodes = chain(21, "http-request", () => ({ url: "https://example.com" }));
    const list: Node = { id: "list", type: "list", data: { items: Array.from({ length: 50 }, (_, index) => index) } };
    const edges = nodes.map((_, index): Edge => ["list.items", `n${index}.body`]);
    expect(issues([list, ...nodes], edges)).toEqual([{ nodeId: "n20", message: "the run makes more than 1,000 calls" }]);
  });

  it("can make 5,000 calls if one of its nodes takes lists of more than 50 items, and no more", () => {
    const nodes = chain(6, "http-request", () => ({ url: "https://example.com", maxItems: 1_000 }));
    const list: Node = { id: "list", type: "list", data: { items: Array.from({ length: 1_000 }, (_, index) => index) } };
    const edges = nodes.map((_, index): Edge => ["list.items", `n${index}.body`]);
    expect(issues([list, ...nodes.slice(0, 5)], edges.slice(0, 5))).toEqual([]);
    expect(issues([list, ...nodes], edges)).toEqual([{ nodeId: "n5", message: "the run makes more than 5,000 calls" }]);
  });

  it("is rejected if a node's id is too long to name an activity", () => {
    expect(issues([{ id: "x".repeat(201), type: "text-box" }], [])[0]!.message).toMatch(/id of nodes\[0\]/);
  });

  it("takes time proportional to nodes and edges, not to paths", () => {
    const text = `${"{{a}} ".repeat(20)}${"x".repeat(200_000)}`;
    const knotted = (count: number) => {
      const nodes = chain(count, "text-box", () => ({ text: "{{a}}" }));
      const edges = nodes.map((_, index): Edge => [`n${index}.text`, `n${index === count - 1 ? count - 2 : index + 1}.a`]).reverse();
      return () => issues(nodes, [...edges, ["n1.text", "n0.a"]]);
    };
    const wide = (count: number) => {
      const edges = Array.from({ length: count }, (): Edge => ["in.a", "box.a"]);
      return () => issues([input({ name: "a", type: "text" }), { id: "box", type: "text-box", data: { text } }], edges);
    };
    expect(knotted(499)().map((issue) => issue.nodeId)).toContain("n0");
    expect(growth(knotted(125), knotted(499))).toBeLessThan(10);
    expect(growth(wide(500), wide(2_000))).toBeLessThan(10);
  });
});
