import { BoundPassed, createBudget, GRAPH_BOUNDS, planRun, routeOf, type ModelTerms } from "@nodeloom/kernel";
import { graphOf, input, issues, MODELS, planned, type Edge, type Node } from "../../support";

type Case = Record<string, unknown>;

const switchOf = (cases: Case[]): Node => ({ id: "switch", type: "switch", data: { cases } });
const pic = (id: string): Node => ({ id, type: "generate-image", data: { model: "pic", inputs: { prompt: "{{what}}" } } });
const OUT: Node = { id: "out", type: "response-output" };
const BIG: Case = { name: "big", left: "{{size}}", op: "greater", right: "10" };
const FIELDS = input({ name: "size", type: "number" }, { name: "what", type: "text" });
const CHAT: Node = { id: "chat", type: "llm-assistant", data: { model: "chat", prompt: "x" } };

/** A value leaves through `big` to one picture, or through `else` to another. Both pictures are linked to one port. */
const BRANCHES: Edge[] = [
  ["in.what", "switch.value"],
  ["switch.big", "large.what"],
  ["switch.else", "small.what"],
  ["large.image", "out.images"],
  ["small.image", "out.images"],
];
const KNOWN: Edge[] = [["in.size", "switch.size"], ...BRANCHES];
const ASKED: Edge[] = [["chat.text", "switch.size"], ...BRANCHES];

const takenPort = (one: Case, item: Record<string, unknown>): string | undefined =>
  routeOf({ type: "switch", literals: { cases: [{ name: "yes", ...one }] } }, item, createBudget());

it("compares the duration or size of a file as a number", () => {
  const clip = { url: "https://m/a.mp4", contentType: "video/mp4", width: 640, height: 360, duration: 12 };
  const long = { left: "{{clip.duration}}", op: "greater", right: "9" };
  expect(takenPort(long, { clip })).toBe("yes");
  expect(takenPort(long, { clip: { ...clip, duration: 8 } })).toBe("else");
  expect(takenPort({ left: "{{clip.width}}", op: "greater", right: "{{clip.height}}" }, { clip })).toBe("yes");
});

describe("a switch with cases known during planning", () => {
  it.each([
    [11, "large", "small"],
    [10, "small", "large"],
  ])("with size %s plans only the node after %s, and %s is skipped", (size, run, skipped) => {
    const plan = planned([FIELDS, switchOf([BIG]), pic("large"), pic("small"), OUT], KNOWN, { size, what: "a boat" });
    expect(plan.steps.map(({ id, conditional }) => [id, conditional])).toEqual([[run, undefined]]);
    expect(plan.skipped).toEqual([{ id: skipped, type: "generate-image" }]);
    expect(plan.output).toEqual({ images: [{ node: run, port: "image" }] });
  });

  it("skips all nodes after a skipped one, and omits result members without a value", () => {
    const again: Node = { id: "again", type: "generate-video", data: { model: "clip", inputs: { prompt: "x" } } };
    const edges: Edge[] = [
      ...KNOWN.slice(0, 5),
      ["large.image", "again.image"],
      ["again.video", "out.videos"],
      ["small.image", "out.images"],
    ];
    const plan = planned([FIELDS, switchOf([BIG]), pic("large"), pic("small"), again, OUT], edges, { size: 1, what: "a boat" });
    expect(plan.skipped!.map(({ id }) => id)).toEqual(["large", "again"]);
    expect(Object.keys(plan.output)).toEqual(["images"]);
  });

  it("skips nodes after a port that a skipped node has only because of its model", () => {
    const edges: Edge[] = [
      ["in.size", "switch.size"],
      ["in.what", "switch.value"],
      ["switch.big", "reader.prompt"],
      ["reader.json", "words.a"],
      ["words.text", "out.text"],
    ];
    const nodes: Node[] = [
      ...[FIELDS, switchOf([BIG]), OUT],
      { id: "reader", type: "llm-assistant", data: { model: "chat" } },
      { id: "words", type: "text-box", data: { text: "{{a}}" } },
    ];
    const reading: ModelTerms = { ...MODELS.get("chat")!, outputs: ["text", "json"] };
    const { plan } = planRun({
      graph: graphOf(nodes, edges),
      inputs: new Map<string, unknown>(Object.entries({ size: 1, what: "x" })),
      models: new Map([["chat", reading]]),
      media: new Map(),
      markupPermille: 1_000,
    });
    expect(plan!.skipped!.map(({ id }) => id)).toEqual(["reader", "words"]);
    expect(plan!.steps).toEqual([]);
  });

  it("decides by known inputs even if the passed value is unknown", () => {
    const edges: Edge[] = [["in.size", "switch.size"], ["chat.text", "switch.value"], ...BRANCHES.slice(1)];
    const plan = planned([FIELDS, CHAT, switchOf([BIG]), pic("large"), pic("small"), OUT], edges, { size: 99, what: "" });
    expect(plan.steps.map(({ id }) => id)).toEqual(["chat", "switch", "large"]);
    expect(plan.steps.some(({ conditional }) => conditional)).toBe(false);
  });
});

it("plans every branch of a switch that only the run decides, as steps that can be skipped", () => {
  const plan = planned([FIELDS, CHAT, switchOf([BIG]), pic("large"), pic("small"), OUT], ASKED, { size: 1, what: "a boat" });
  expect(plan.steps.map(({ id, conditional }) => [id, conditional])).toEqual([
    ["chat", undefined],
    ["switch", undefined],
    ["large", true],
    ["small", true],
  ]);
});

describe("a case", () => {
  it.each<[Case, Record<string, unknown>, boolean]>([
    [{ left: "{{a}}", op: "equals", right: "x" }, { a: "x" }, true],
    [{ left: "{{a}}!", op: "equals", right: "{{b}}!" }, { a: 1, b: "1" }, true],
    [{ left: "{{a}}", op: "notEquals", right: "x" }, { a: "x" }, false],
    [{ left: "{{a}}", op: "contains", right: "oa" }, { a: "boat" }, true],
    [{ left: "{{a}}", op: "contains", right: "boat" }, { a: ["boat", "sea"] }, true],
    [{ left: "{{a}}", op: "contains", right: "oa" }, { a: ["boat", "sea"] }, false],
    [{ left: "{{a}}", op: "matches", right: "^b.*t$" }, { a: "boat" }, true],
    [{ left: "{{a}}", op: "matches", right: "{{b}}" }, { a: "boat", b: "(" }, false],
    [{ left: "{{a}}", op: "greater", right: "9" }, { a: "10" }, true],
    [{ left: "{{a}}", op: "less", right: "9" }, { a: "" }, false],
    [{ left: "{{a}}", op: "less", right: "9" }, { a: "many" }, false],
    [{ left: "{{a}}", op: "exists" }, { a: 0 }, true],
    [{ left: "{{a}}", op: "exists" }, {}, false],
    [{ left: "{{a}}", op: "empty" }, { a: [] }, true],
    [{ left: "{{a}}", op: "empty" }, { a: false }, false],
    [{ left: "{{toString}}", op: "exists" }, {}, false],
  ])("%j of %j is %s", (one, item, is) => {
    expect(takenPort(one, item)).toBe(is ? "yes" : "else");
  });

  it("counts the work of matching", () => {
    const one: Case = { left: "{{a}}", op: "matches", right: "(a|b|ab)*c".repeat(5) };
    expect(() => takenPort(one, { a: "ab".repeat(GRAPH_BOUNDS.work / 2) })).toThrow(BoundPassed);
  });
});

it.each<[unknown, string]>([
  [undefined, "cases: must be a list of at least one case"],
  [[], "cases: must be a list of at least one case"],
  [[7], "cases[0]: must be an object with name, left, op and right"],
  [[{ ...BIG, name: "else" }], 'cases[0].name: must be text of 1 to 80 characters other than "else"'],
  [[{ ...BIG, op: "above" }], "cases[0].op: must be one of equals, notEquals, contains, matches, greater, less, exists, empty"],
  [[{ ...BIG, op: "matches", right: "(" }], "cases[0].right: isn't a valid regular expression (RE2)"],
  [[{ name: "a", left: "x", op: "equals" }], "cases[0].right: must be text"],
  [[BIG, BIG], "cases: two are named big"],
  [Array.from({ length: 21 }, (_, index) => ({ ...BIG, name: `c${index}` })), "cases: there are 21, at most 20 are allowed"],
])("rejects the cases %j", (cases, message) => {
  expect(issues([{ id: "switch", type: "switch", data: { cases } }], [])).toContainEqual({ nodeId: "switch", message });
});

it("lists its ports if an edge names an unknown one", () => {
  const graph = graphOf([switchOf([BIG]), { id: "t", type: "text-box", data: { text: "{{a}}" } }], [["switch.bigger", "t.a"]]);
  const { issues: graphIssues } = planRun({ graph, inputs: new Map(), models: new Map(), media: new Map(), markupPermille: 1_000 });
  expect(graphIssues.map(({ message }) => message)).toContainEqual(expect.stringContaining("it has big, else"));
});
