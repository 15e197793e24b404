import { createBudget, GRAPH_BOUNDS, planRun, valueBytes, type PlanResult } from "@nodeloom/kernel";
import { graphOf, input, MODELS, OUT, type Edge, type Node } from "../../support";

const plan = (nodes: Node[], edges: Edge[], inputs: Record<string, unknown> = {}): PlanResult =>
  planRun({
    graph: graphOf(nodes, edges),
    inputs: new Map(Object.entries(inputs)),
    models: MODELS,
    media: new Map(),
    markupPermille: 1_500,
  });

const MOST_TEXT_BYTES = 256 * 1024;

describe("the values of a run", () => {
  const boxes = (count: number): [Node[], Edge[]] => [
    [
      input({ name: "text", type: "text" }, { name: "list", type: "json" }),
      ...Array.from({ length: count }, (_, index): Node => ({ id: `box${index}`, type: "text-box", data: { text: "{{text}} {{item}}" } })),
    ],
    Array.from({ length: count }, (_, index): Edge[] => [
      ["in.text", `box${index}.text`],
      ["in.list", `box${index}.item`],
    ]).flat(),
  ];
  const attack = { text: "x".repeat(250_000), list: Array.from({ length: 50 }, (_, index) => index) };

  it.each([24, 45])("are limited to 8 MB while they are created, with 50 items of 250 kB in %i text boxes", (count) => {
    const planned = plan(...boxes(count), attack);
    expect(planned.issues).toMatchObject([{ nodeId: "box0", message: "the values of this run exceed 8 MB" }]);
    expect(planned.used.valueBytes).toBeLessThanOrEqual(GRAPH_BOUNDS.valueBytes + MOST_TEXT_BYTES);
  });

  it("are counted in the inputs of calls before any call", () => {
    const [nodes, edges] = boxes(1);
    const chat: Node = { id: "box0", type: "llm-assistant", data: { model: "chat", inputs: { prompt: "{{text}} {{item}}" } } };
    expect(plan([nodes[0]!, chat], edges, attack).issues).toMatchObject([
      { nodeId: "box0", message: "the values of this run exceed 8 MB" },
    ]);
  });

  it("are counted at each occurrence in a plan", () => {
    const many = Array.from({ length: 60 }, (_, index): Edge => ["in.text", `out.text${index}`]);
    const planned = plan([input({ name: "text", type: "text" }), OUT], many, { text: "x".repeat(250_000) });
    expect(planned.issues).toMatchObject([
      { nodeId: "out", message: expect.stringMatching(/each counted as often as it is used$/) as string },
    ]);
  });

  it("from planning are passed on to the run, except those of calls", () => {
    const web: Node = { id: "web", type: "http-request", data: { url: "https://x.test", method: "POST", body: "{{text}}" } };
    const planned = plan([input({ name: "text", type: "text" }), web], [["in.text", "web.text"]], { text: "x".repeat(1_000) });
    expect(planned.plan?.used).toEqual({ valueBytes: 1_002, calls: 0, work: 0 });
  });
});

describe("the size of a value", () => {
  it.each([
    ["text", 'a"\\\n\u0001é€😀\ud800'],
    ["a list", [1, "two", [true]]],
    ["an object", { ä: { b: "c" }, d: [] }],
  ])("is at least that of its JSON: %s", (_, value) => {
    expect(valueBytes(value, 1_000)).toBeGreaterThanOrEqual(Buffer.byteLength(JSON.stringify(value)));
  });

  it("of a text is exactly that of its JSON", () => {
    const text = 'a"\\\u0001é€😀\ud800 and more';
    expect(valueBytes(text, 1_000)).toBe(Buffer.byteLength(JSON.stringify(text)));
  });
});

describe("planning work", () => {
  it("is counted while templates are filled, even if they create no text", () => {
    const text = "{{e}}".repeat(50_000);
    const list: Node = { id: "list", type: "list", data: { items: Array.from({ length: 50 }, () => "x") } };
    const box: Node = { id: "box", type: "text-box", data: { text: `${text}{{item}}` } };
    const planned = plan([input({ name: "e", type: "text" }), list, box], [["list.items", "box.item"], ["in.e", "box.e"]], { e: "" }); // prettier-ignore
    expect(planned.issues).toMatchObject([{ nodeId: "box", message: expect.stringMatching(/takes more than 250,000 steps$/) as string }]);
    expect(planned.used.work).toBe(GRAPH_BOUNDS.work + 1);
  });
});

describe("warnings", () => {
  const unresolved = (count: number): Node => ({
    id: "box",
    type: "text-box",
    data: { text: Array.from({ length: count }, (_, index) => `{{n${index}}}`).join("") },
  });

  it("can include a hundred", () => {
    expect(plan([unresolved(100), OUT], [["box.text", "out.text"]]).plan?.warnings.box).toHaveLength(100);
  });

  it("reject the plan if there are more", () => {
    expect(plan([unresolved(101)], []).issues).toMatchObject([{ nodeId: "box", message: "the graph has more than 100 warnings" }]);
  });

  it("shorten long names", () => {
    const [warning] = plan([{ id: "box", type: "text-box", data: { text: `{{${"n".repeat(200_000)}}}` } }], []).plan!.warnings.box!;
    expect(warning!.length).toBeLessThan(150);
  });
});

describe("problems of a graph", () => {
  it("are listed up to a limit and kept short, whatever the graph's names are", () => {
    const nodes = Array.from({ length: 500 }, (_, index): Node => ({ id: `n${index}`, type: "x".repeat(10_000) }));
    const { issues } = plan(nodes, []);
    expect(issues).toHaveLength(GRAPH_BOUNDS.issues);
    expect(Math.max(...issues.map(({ message }) => message.length))).toBeLessThan(200);
  });
});

describe("a budget", () => {
  it("continues from earlier usage", () => {
    const budget = createBudget({ calls: GRAPH_BOUNDS.calls - 1 });
    budget.calls(1);
    expect(() => budget.calls(1)).toThrow("the run makes more than 1,000 calls");
  });
});

describe("a list of unknown length", () => {
  const steps = (data: Record<string, unknown>): { maxItems: number; itemLimit?: number | undefined }[] =>
    plan(
      [
        { id: "web", type: "http-request", data: { url: "https://x.test" } },
        { id: "pic", type: "generate-image", data: { model: "pic", ...data } },
        { id: "clip", type: "generate-video", data: { model: "clip", inputs: { prompt: "p" } } },
      ],
      [
        ["web.body", "pic.prompt"],
        ["pic.image", "clip.image"],
      ],
    ).plan!.steps.map(({ maxItems, itemLimit }) => ({ maxItems, itemLimit }));

  it("holds for one item, and can have any allowed length", () => {
    expect(steps({})).toEqual([1, 1, 1].map((maxItems, index) => ({ maxItems, itemLimit: index === 0 ? 1 : 50 })));
  });

  it("is held and limited by its node's maxItems, and so are later nodes", () => {
    expect(steps({ maxItems: 4 }).slice(1)).toEqual([
      { maxItems: 4, itemLimit: 4 },
      { maxItems: 4, itemLimit: 4 },
    ]);
  });

  it("can have more than 50 items if its node's maxItems allows it; later nodes have their own maximum", () => {
    expect(steps({ maxItems: 900 }).slice(1)).toEqual([
      { maxItems: 900, itemLimit: 900 },
      { maxItems: 50, itemLimit: 50 },
    ]);
  });

  it.each([0, 1_001, 1.5, -1, "5", [4]])("is limited by a whole number from 1 to 1,000, not by %j", (maxItems) => {
    const nodes: Node[] = [
      { id: "web", type: "http-request", data: { url: "https://x.test", maxItems } },
      { id: "pic", type: "generate-image", data: { model: "pic", maxItems } },
    ];
    const message = "maxItems: must be a whole number from 1 to 1000";
    expect(plan(nodes, [["web.body", "pic.prompt"]]).issues).toMatchObject(nodes.map(({ id }) => ({ nodeId: id, message })));
  });

  it("has more than 50 known items only if the node's maxItems allows it", () => {
    const list: Node = { id: "list", type: "list", data: { items: Array.from({ length: 60 }, (_, index) => `${index}`) } };
    const planned = (data: object) =>
      plan([list, { id: "pic", type: "generate-image", data: { model: "pic", ...data } }], [["list.items", "pic.prompt"]]);
    expect(planned({ maxItems: 1_000 }).plan!.steps).toMatchObject([{ id: "pic", maxItems: 60, itemLimit: 60 }]);
    expect(planned({}).issues).toMatchObject([{ nodeId: "pic", message: "a list of 60 items flows into prompt: at most 50 are allowed" }]);
  });

  it("is rejected if it turns out to be known and longer than maxItems", () => {
    const list: Node = { id: "list", type: "list", data: { items: ["a", "b", "c"] } };
    const pic: Node = { id: "pic", type: "generate-image", data: { model: "pic", maxItems: 2 } };
    expect(plan([list, pic], [["list.items", "pic.prompt"]]).issues).toMatchObject([
      { nodeId: "pic", message: "receives a list of 3 items, but its maxItems is 2" },
    ]);
  });
});
