import {
  bindItems,
  buildResult,
  callInputs,
  estimateMillicredits,
  generatorUses,
  holdItems,
  inputFields,
  labelOf,
  planRun,
  readGraph,
  resolveInputs,
  savedValues,
  type GeneratorUse,
  type GraphIssue,
} from "@nodeloom/kernel";
import { graphOf, input, issues, MODELS, OUT, planned, type Edge, type Node } from "../support";

const nothing = (): undefined => undefined;

describe("planning", () => {
  it("evaluates what is known, so that a text-only graph leaves nothing to run", () => {
    const plan = planned(
      [input({ name: "who", type: "text" }), { id: "box", type: "text-box", data: { text: "Hello {{who}}, {{ nobody }}!" } }, OUT],
      [
        ["in.who", "box.who"],
        ["box.text", "out.text"],
      ],
      { who: "Ada" },
    );
    expect(plan.steps).toEqual([]);
    expect(buildResult(plan.output, nothing)).toEqual({ text: "Hello Ada, !" });
    expect(plan.warnings.box).toEqual(["{{nobody}} is not connected and becomes empty text"]);
  });

  it("puts steps in dependency order and lets edges replace literals", () => {
    const plan = planned(
      [
        OUT,
        { id: "b", type: "generate-video", data: { model: "clip", inputs: { prompt: "own", seconds: 3 } } },
        { id: "a", type: "generate-image", data: { model: "pic", inputs: { prompt: "x" } } },
      ],
      [
        ["a.image", "b.image"],
        ["b.video", "out.videos"],
      ],
    );
    expect(plan.steps.map((step) => step.id)).toEqual(["a", "b"]);
    const [, b] = plan.steps;
    expect(callInputs(b!, { image: { url: "https://m/x.png", contentType: "image/png" } })).toEqual({
      prompt: "own",
      seconds: 3,
      image: "https://m/x.png",
    });
  });

  it("holds one worst case per call: known lists exactly, unknown ones by their bound", () => {
    const list: Node = { id: "list", type: "list", data: { items: ["one", "two", "three"] } };
    const pic: Node = { id: "pic", type: "generate-image", data: { model: "pic", inputs: { count: 2 } } };
    const clip: Node = { id: "clip", type: "generate-video", data: { model: "clip", inputs: { prompt: "p", seconds: 2 } } };
    const plan = planned(
      [list, pic, clip, OUT],
      [
        ["list.items", "pic.prompt"],
        ["pic.image", "clip.image"],
        ["clip.video", "out.videos"],
      ],
    );
    const holds = holdItems(plan);
    expect(holds.filter((item) => item.model === "pic")).toEqual(
      [0, 1, 2].map((item) => ({ key: `pic:${item}`, model: "pic", maxMillicredits: 6_000 })),
    );
    // Three calls of two pictures each flow into the video node.
    expect(holds.filter((item) => item.model === "clip")).toHaveLength(6);
    expect(holds.find((item) => item.model === "clip")!.maxMillicredits).toBe(15_000);
  });

  it("prices a number that is known only at run time by its maximum", () => {
    const http: Node = { id: "http", type: "http-request", data: { url: "https://example.com", extract: "/n" } };
    const plan = planned(
      [http, { id: "clip", type: "generate-video", data: { model: "clip", inputs: { prompt: "p" } } }],
      [["http.status", "clip.seconds"]],
    );
    expect(holdItems(plan)[0]!.maxMillicredits).toBe(75_000);
  });

  it("holds what a connected, known number costs, also while another input waits for a node", () => {
    const plan = planned(
      [
        input({ name: "count", type: "number" }, { name: "seconds", type: "number" }),
        { id: "llm", type: "llm-assistant", data: { model: "chat", inputs: { prompt: "hi" } } },
        { id: "pic", type: "generate-image", data: { model: "pic" } },
        { id: "clip", type: "generate-video", data: { model: "clip" } },
      ],
      [
        ["in.count", "pic.count"],
        ["llm.text", "pic.prompt"],
        ["in.seconds", "clip.seconds"],
        ["llm.text", "clip.prompt"],
      ],
      { count: 4, seconds: 9 },
    );
    const held = new Map(holdItems(plan).map((item) => [item.key, item.maxMillicredits]));
    expect(held.get("pic:0")).toBe(4 * 3_000);
    expect(held.get("clip:0")).toBe(9 * 7_500);
  });

  it("holds as many calls as a known list has items, whatever else is unknown", () => {
    const plan = planned(
      [
        { id: "list", type: "list", data: { items: ["a", "b"] } },
        { id: "web", type: "http-request", data: { url: "https://example.com" } },
        { id: "pic", type: "generate-image", data: { model: "pic" } },
      ],
      [
        ["list.items", "pic.prompt"],
        ["web.body", "pic.image"],
      ],
    );
    expect(holdItems(plan)).toHaveLength(2);
  });

  it("treats names that every object inherits as names like any other", () => {
    const plan = planned(
      [
        input({ name: "constructor", type: "text" }, { name: "toString", type: "constructor" }),
        { id: "constructor", type: "text-box", data: { text: "[{{valueOf}}{{__proto__}}{{constructor}}]" } },
        OUT,
      ],
      [
        ["in.constructor", "constructor.constructor"],
        ["constructor.text", "out.constructor"],
        ["constructor.text", "out.__proto__"],
        ["in.toString", "out.toString"],
        ["in.constructor", "out"],
      ],
      { constructor: "c", toString: "t" },
    );
    const result = buildResult(plan.output, nothing);
    expect(Object.entries(result)).toEqual(
      expect.arrayContaining([
        ["constructor", ["[c]", "c"]],
        ["__proto__", "[c]"],
        ["toString", "t"],
      ]),
    );
    expect(plan.warnings.constructor).toHaveLength(2);
    expect(plan.evaluated.find((node) => node.id === "in")!.warnings).toEqual([
      "field toString takes anything: there is no type constructor",
    ]);
  });

  it("lets an input that was not given add nothing to a list", () => {
    const plan = planned(
      [
        input({ name: "extra", type: "text" }),
        { id: "list", type: "list", data: { items: ["a", "b"] } },
        { id: "pic", type: "generate-image", data: { model: "pic" } },
      ],
      [
        ["in.extra", "list.items"],
        ["list.items", "pic.prompt"],
      ],
    );
    expect(holdItems(plan).map((item) => item.key)).toEqual(["pic:0", "pic:1"]);
  });

  it("takes texts that are addresses for files, and empty ones for none", () => {
    const flowing = (text: string): GraphIssue[] =>
      issues(
        [
          { id: "box", type: "text-box", data: { text } },
          { id: "pic", type: "generate-image", data: { model: "pic", inputs: { prompt: "p" } } },
        ],
        [["box.text", "pic.image"]],
      );
    for (const text of ["https://x.test/a.png", "data:image/png;base64,aaaa", ""]) expect(flowing(text)).toEqual([]);
    for (const text of ["a picture of a boat", "ftp://x.test/a.png", "data:,x"])
      expect(flowing(text)).toEqual([{ nodeId: "pic", message: "image: must be a file: an http(s) URL, a data URL or a media id" }]);
    expect(flowing("no-such-file")).toEqual([{ nodeId: "pic", message: "image: there is no media file no-such-file of yours" }]);
  });

  it("gives an input that is a list a list, also from a single edge", () => {
    const step = { literals: {}, textPorts: [], inputNames: ["images"], listPorts: ["images"] };
    expect(callInputs(step, { images: { url: "u", contentType: "image/png" } })).toEqual({ images: ["u"] });
    expect(callInputs(step, { images: ["u", "v"] })).toEqual({ images: ["u", "v"] });
  });

  it("takes literals as they are when told so", () => {
    const request = { graph: graphOf([{ id: "chat", type: "llm-assistant", data: { model: "chat", inputs: { prompt: "a {{b}}" } } }], []) };
    const rest = { inputs: new Map(), models: MODELS, media: new Map(), markupPermille: 1_500 };
    const [literal] = planRun({ ...request, ...rest, noTemplates: true }).plan!.steps;
    expect(callInputs(literal!, {}).prompt).toBe("a {{b}}");
    const [template] = planRun({ ...request, ...rest }).plan!.steps;
    expect(callInputs(template!, {}).prompt).toBe("a ");
  });

  it("bounds a text model by its longest answer", () => {
    const [item] = holdItems(planned([{ id: "chat", type: "llm-assistant", data: { model: "chat", prompt: "hi", maxTokens: 1_000 } }], []));
    expect(item!.maxMillicredits).toBeGreaterThanOrEqual(225);
    expect(item!.maxMillicredits).toBeLessThan(260);
  });

  it("leaves notes out and still runs nodes that no output needs", () => {
    const plan = planned(
      [
        { id: "n", type: "note", data: {} },
        { id: "a", type: "generate-image", data: { model: "pic", inputs: { prompt: "x" } } },
      ],
      [],
    );
    expect(plan.steps.map((step) => step.id)).toEqual(["a"]);
    expect(plan.evaluated).toEqual([]);
  });
});

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
    ["a missing model", [{ id: "a", type: "generate-image", data: {} }], [], "a", /needs a model/],
    ["an unknown model", [{ id: "a", type: "generate-image", data: { model: "nope" } }], [], "a", /no enabled model nope/],
    [
      "a model of another kind",
      [{ id: "a", type: "generate-image", data: { model: "clip", inputs: { prompt: "p" } } }],
      [],
      "a",
      /needs a model that makes image/,
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

  it("does not blame nodes behind a cycle", () => {
    const box = (id: string): Node => ({ id, type: "text-box", data: { text: "{{x}}" } });
    const found = issues(
      [box("a"), box("b"), box("after")],
      [
        ["a.text", "b.x"],
        ["b.text", "a.x"],
        ["b.text", "after.x"],
      ],
    );
    expect(found.map((issue) => issue.nodeId)).toEqual(["a", "b"]);
  });
});

describe("a graph that would grow without bounds", () => {
  const chain = (count: number, type: string, data: (index: number) => Record<string, unknown>): Node[] =>
    Array.from({ length: count }, (_, index) => ({ id: `n${index}`, type, data: data(index) }));

  it("is refused when texts that are made of texts outgrow the limit", () => {
    const nodes = chain(40, "text-box", () => ({ text: "{{a}}{{a}}" }));
    const edges = nodes.slice(1).map((_, index): Edge => [`n${index}.text`, `n${index + 1}.a`]);
    const found = issues([input({ name: "a", type: "text" }), ...nodes], [["in.a", "n0.a"], ...edges]);
    expect(found).toEqual([]);
    const long = planRun({
      graph: graphOf([input({ name: "a", type: "text" }), ...nodes], [["in.a", "n0.a"], ...edges]),
      inputs: new Map([["a", "x".repeat(1_000)]]),
      models: MODELS,
      media: new Map(),
      markupPermille: 1_500,
    });
    expect(long.issues[0]!.message).toMatch(/its text would be longer than/);
  });

  it("is refused when lists that are made of lists outgrow the limit", () => {
    const nodes = chain(40, "list", (index) => ({ items: index === 0 ? ["a"] : [] }));
    const edges = nodes.slice(1).flatMap((_, index): Edge[] => [
      [`n${index}.items`, `n${index + 1}.items`],
      [`n${index}.items`, `n${index + 1}.items`],
    ]);
    expect(issues(nodes, edges)[0]!.message).toMatch(/it has 1024 items/);
  });

  it("is refused when one value is used so often that the plan outgrows the limit", () => {
    const nodes = chain(100, "http-request", () => ({ url: "https://example.com" }));
    const edges = nodes.map((_, index): Edge => ["in.a", `n${index}.body`]);
    const run = planRun({
      graph: graphOf([input({ name: "a", type: "text" }), ...nodes], edges),
      inputs: new Map([["a", "x".repeat(250_000)]]),
      models: MODELS,
      media: new Map(),
      markupPermille: 1_500,
    });
    expect(run.issues).toEqual([{ nodeId: "n32", message: "the values that this run makes are more than 8 MB" }]);
  });

  it("is refused when it makes more calls than a run may have", () => {
    const nodes = chain(21, "http-request", () => ({ url: "https://example.com" }));
    const list: Node = { id: "list", type: "list", data: { items: Array.from({ length: 50 }, (_, index) => index) } };
    const edges = nodes.map((_, index): Edge => ["list.items", `n${index}.body`]);
    expect(issues([list, ...nodes], edges)).toEqual([{ nodeId: "n20", message: "the run makes more than 1,000 calls" }]);
  });

  it("is refused when a node's id is too long to name an activity", () => {
    expect(issues([{ id: "x".repeat(201), type: "text-box" }], [])[0]!.message).toMatch(/id of nodes\[0\]/);
  });

  it("is judged in time, however its edges run", () => {
    const text = `${"{{a}} ".repeat(20)}${"x".repeat(200_000)}`;
    const nodes = chain(499, "text-box", () => ({ text: "{{a}}" }));
    const edges = nodes.map((_, index): Edge => [`n${index}.text`, `n${index === 498 ? 497 : index + 1}.a`]).reverse();
    const started = Date.now();
    expect(issues(nodes, [...edges, ["n1.text", "n0.a"]]).map((issue) => issue.nodeId)).toContain("n0");
    const wide = Array.from({ length: 2_000 }, (): Edge => ["in.a", "box.a"]);
    issues([input({ name: "a", type: "text" }), { id: "box", type: "text-box", data: { text } }], wide);
    // Some milliseconds; minutes where every path through the graph is walked.
    expect(Date.now() - started).toBeLessThan(20_000);
  });
});

describe("fan-out", () => {
  it("never makes more calls than credits are held for", () => {
    const step = { sources: { prompt: [{ node: "pic", port: "image" }] }, listPorts: [], maxItems: 1 };
    expect(() => bindItems(step, () => ["a", "b"])).toThrow(/no more than 1 may/);
    expect(bindItems(step, () => "a").items).toEqual([{ prompt: "a" }]);
  });

  const step = (sources: Record<string, unknown>): Parameters<typeof bindItems>[0] => ({
    sources: Object.fromEntries(Object.entries(sources).map(([name, value]) => [name, [{ value }]])),
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

  it("refuses lists whose lengths differ", () => {
    expect(() => bindItems(step({ a: [1, 2], b: ["x"] }), nothing)).toThrow(/lengths must agree/);
  });

  it("joins several edges into one list in edge order", () => {
    const sources = { prompt: [{ value: "a" }, { value: ["b", "c"] }, { value: "d" }] };
    expect(bindItems({ sources, listPorts: [] }, nothing).items.map((item) => item.prompt)).toEqual(["a", "b", "c", "d"]);
  });
});

describe("the result", () => {
  it("collects media as urls, joins text and passes other names as they are", () => {
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

  it("applies defaults, and only to what is left out", () => {
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
  ])("refuses %j at %s", (given, path) => {
    expect(resolveInputs(fields, given).issues.map((issue) => issue.path)).toContain(path);
  });

  it("bounds texts by characters as people count them", () => {
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
});

describe("estimates", () => {
  const uses = generatorUses(
    graphOf(
      [
        { id: "a", type: "generate-image", data: { model: "pic", inputs: { prompt: "x", count: 3 } } },
        { id: "b", type: "generate-video", data: { model: "clip", inputs: {} } },
        { id: "c", type: "llm-assistant", data: { model: "chat" } },
      ],
      [],
    ),
  );

  it("sums the generators at the caller's markup", () => {
    expect(estimateMillicredits(uses, MODELS, 1_500)).toBe(9_000 + 30_000);
    expect(estimateMillicredits(uses, MODELS, 2_000)).toBe(12_000 + 40_000);
  });

  it("counts what lists and defaults of the saved graph tell", () => {
    const nodes: Node[] = [
      input({ name: "seconds", type: "number", default: 2 }),
      { id: "list", type: "list", data: { items: ["a", "b"] } },
      { id: "pic", type: "generate-image", data: { model: "pic", inputs: { count: 2 } } },
      { id: "clip", type: "generate-video", data: { model: "clip", inputs: { prompt: "p" } } },
    ];
    const found = generatorUses(
      graphOf(nodes, [
        ["list.items", "pic.prompt"],
        ["pic.image", "clip.image"],
        ["in.seconds", "clip.seconds"],
      ]),
    );
    expect(found.map(({ nodeId, items }) => [nodeId, items])).toEqual([
      ["pic", 2],
      ["clip", 4],
    ]);
    expect(estimateMillicredits(found, MODELS, 1_500)).toBe(2 * 6_000 + 4 * 15_000);
  });

  it.each<[string, Node, string]>([
    ["a JSON node", { id: "from", type: "json", data: {} }, "from.value"],
    ["an HTTP request", { id: "from", type: "http-request", data: { url: "https://example.com" } }, "from.body"],
    ["a language model that answers with JSON", { id: "from", type: "llm-assistant", data: { schema: {} } }, "from.json"],
  ])("counts a list that %s will bring as the maxItems of the node that it flows into, or as one", (_, from, port) => {
    const pic = (data: object): Node => ({ id: "pic", type: "generate-image", data: { model: "pic", ...data } });
    const nodes = [
      from,
      { id: "box", type: "text-box", data: { text: "{{x}}" } },
      pic({ maxItems: 4 }),
      { id: "clip", type: "generate-video", data: { model: "clip" } },
    ];
    const edges: [string, string][] = [
      [port, "box.x"],
      ["box.text", "pic.prompt"],
      ["pic.image", "clip.image"],
    ];
    const itemsOf = (those: Node[]) => generatorUses(graphOf(those, edges)).map(({ items }) => items);
    expect(itemsOf(nodes)).toEqual([4, 4]);
    expect(itemsOf(nodes.map((node) => (node.id === "pic" ? pic({}) : node)))).toEqual([1, 1]);
    const list = { id: "from", type: "list", data: { items: ["a", "b"] } };
    expect(itemsOf([list, ...nodes.slice(1)])).toEqual([2, 2]);
  });

  it("counts what is joined to a list that only a run knows with it, and a list that is known before it", () => {
    const pic = { id: "pic", type: "generate-image", data: { model: "pic", maxItems: 4 } };
    const from = { id: "from", type: "json", data: {} };
    const box = { id: "box", type: "text-box", data: { text: "a" } };
    const itemsOf = (those: Node[], edges: [string, string][]) => generatorUses(graphOf(those, edges)).map(({ items }) => items);
    const into: [string, string] = ["from.value", "pic.prompt"];
    expect(itemsOf([from, box, pic], [into, ["box.text", "pic.prompt"]])).toEqual([4]);
    const list = { id: "list", type: "list", data: { items: ["a"] } };
    expect(
      itemsOf(
        [from, list, pic],
        [
          ["from.value", "list.items"],
          ["list.list", "pic.prompt"],
        ],
      ),
    ).toEqual([4]);
    const two = { id: "two", type: "list", data: { items: ["a", "b"] } };
    expect(itemsOf([from, two, pic], [into, ["two.list", "pic.image"]])).toEqual([2]);
  });

  it("counts a value that is no list as one, whatever maxItems says", () => {
    const pic = { id: "pic", type: "generate-image", data: { model: "pic", maxItems: 4 } };
    const from = { id: "from", type: "http-request", data: {} };
    expect(generatorUses(graphOf([from, pic], [["from.status", "pic.seed"]])).map(({ items }) => items)).toEqual([1]);
  });

  it("counts whole calls, whatever the settings say", () => {
    expect([...usesOf(1.5), ...usesOf(1e300)].map(({ items }) => items)).toEqual([1, 2, 1, 50]);
  });

  it("does not hang on a cycle", () => {
    const loop = graphOf(
      [
        { id: "a", type: "generate-image" },
        { id: "b", type: "generate-image" },
      ],
      [
        ["a.image", "b.image"],
        ["b.image", "a.image"],
      ],
    );
    expect(generatorUses(loop).map((use) => use.items)).toEqual([1, 1]);
  });

  it("is null without generators", () => {
    expect(estimateMillicredits([], MODELS, 1_500)).toBeNull();
  });
});

/** A picture that is told to come so often, behind which there is another. */
const usesOf = (count: number): GeneratorUse[] =>
  generatorUses(
    graphOf(
      [
        { id: "a", type: "generate-image", data: { model: "painter", inputs: { count } } },
        { id: "b", type: "generate-image", data: { model: "painter" } },
      ],
      [["a.image", "b.image"]],
    ),
  );

it("refuses graphs that are no arrays or too large", () => {
  expect(() => readGraph("{}", "[]")).toThrow(/nodes: must be an array/);
  expect(() => readGraph("[", "[]")).toThrow(/not valid JSON/);
  expect(() => readGraph(JSON.stringify(Array.from({ length: 501 }, (_, id) => ({ id: `${id}`, type: "note" }))), "[]")).toThrow(
    /at most 500/,
  );
});

it("leaves out, and names, a node whose id can't be written in UTF-8", () => {
  const { nodes, issues } = readGraph('[{"id":"a\\ud800","type":"note"},{"id":"\ud83e\uddf5","type":"note"}]', "[]");
  expect(nodes.map(({ id }) => id)).toEqual(["\ud83e\uddf5"]);
  expect(issues).toEqual([{ nodeId: null, message: "the id of nodes[0] is no text that can be written in UTF-8" }]);
});

it("names nodes by labels that are cut between characters' halves as what can be written", () => {
  const label = labelOf({ data: { label: `x${"\ud83e\uddf5".repeat(50)}` } });
  expect(label).toBe(`x${"\ud83e\uddf5".repeat(39)}\ufffd`);
});
