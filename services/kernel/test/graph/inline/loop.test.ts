import { inlineWorkflows, linkedSlugs, planRun, relinked, workflowReferences, type InlineGraph } from "@nodeloom/kernel";
import { graphOf, input, MODELS, OUT, type Edge, type Node } from "../../support";

/** Improves a text: its result is the new text and a score. */
const improve = graphOf(
  [
    input({ name: "draft", type: "text", required: true }, { name: "style", type: "text", default: "plain" }),
    { id: "write", type: "llm-assistant", data: { model: "chat", prompt: "{{draft}} {{style}}" } },
    { id: "judge", type: "llm-assistant", data: { model: "chat", prompt: "{{text}}" } },
    OUT,
  ],
  [
    ["in.draft", "write.draft"],
    ["in.style", "write.style"],
    ["write.text", "judge.text"],
    ["write.text", "out.text"],
    ["judge.text", "out.score"],
  ],
);
/** Adds a letter to a text, without calls. */
const grow = graphOf(
  [input({ name: "word", type: "text", required: true }), { id: "box", type: "text-box", data: { text: "{{word}}a" } }, OUT],
  [
    ["in.word", "box.word"],
    ["box.text", "out.word"],
  ],
);
const pictures = graphOf(
  [
    { id: "pic", type: "generate-image", data: { model: "pic", prompt: "a boat" } },
    { id: "clip", type: "generate-video", data: { model: "clip" } },
    OUT,
  ],
  [
    ["pic.image", "clip.image"],
    ["clip.video", "out.film"],
  ],
);
const library: Record<string, InlineGraph> = { improve, grow, pictures };

const loop = (data: Record<string, unknown>, id = "l"): Node => ({ id, type: "loop", data });
const inlined = (nodes: Node[], edges: Edge[], knownGraphs: Record<string, InlineGraph> = library): InlineGraph => {
  const whole = graphOf(nodes, edges);
  return inlineWorkflows(
    whole,
    (within, nodeId) => {
      const slug = (within === "" ? whole : knownGraphs[within])?.nodes.find(({ id }) => id === nodeId)?.data.slug as string;
      return knownGraphs[slug] ? { key: slug, graph: knownGraphs[slug] } : undefined;
    },
    "",
  );
};
const plan = (nodes: Node[], edges: Edge[], knownGraphs = library) =>
  planRun({ graph: inlined(nodes, edges, knownGraphs), inputs: new Map(), models: MODELS, media: new Map(), markupPermille: 1_000 });
const messages = (planning: ReturnType<typeof plan>): string[] => planning.issues.map(({ nodeId, message }) => `${nodeId}: ${message}`);
const text = (value: string): Node => ({ id: "start", type: "text-box", data: { text: value } });

const judged = (more: Record<string, unknown> = {}) =>
  plan(
    [text("one"), loop({ slug: "improve", count: 3, until: "score == '4'", feedback: { text: "draft" }, ...more }), OUT],
    [
      ["start.text", "l.draft"],
      ["l.text", "out.text"],
      ["l.turns", "out.turns"],
    ],
  );

it("names the workflow that contains a request with a secret, also in a loop and in a workflow within a workflow", () => {
  const requestNode: Node = { id: "get", type: "http-request", data: { url: "https://x.test/", headers: { auth: "{{secrets.KEY}}" } } };
  const send = graphOf([input({ name: "word", type: "text" }), requestNode, OUT], [["get.status", "out.status"]]);
  const within = graphOf([{ id: "w", type: "workflow", data: { slug: "send" } }, requestNode, OUT], [["w.status", "out.status"]]);
  const { plan: runPlan, issues } = plan(
    [loop({ slug: "send", count: 2 }), loop({ slug: "within", count: 2 }, "m"), requestNode, OUT],
    [
      ["l.status", "out.status"],
      ["m.status", "out.again"],
    ],
    { send, within },
  );
  expect(issues).toEqual([]);
  const found = runPlan!.steps.flatMap(({ id, secrets, innerWorkflow }) => (secrets ? [[id, innerWorkflow]] : []));
  expect(Object.fromEntries(found)).toEqual({
    ...{ "l/1/get": "send", "l/2/get": "send", "m/1/w/get": "send", "m/2/w/get": "send" },
    ...{ "m/1/get": "within", "m/2/get": "within", get: undefined },
  });
});

it("plans every turn of a loop, with ids that name the turn", () => {
  const { plan: runPlan, issues } = judged();
  expect(issues).toEqual([]);
  expect(runPlan!.steps.map(({ id }) => id)).toEqual([
    ...["l/1/write", "l/1/judge", "l/1"],
    ...["l/2/write", "l/2/judge", "l/2"],
    ...["l/3/write", "l/3/judge", "l/3"],
  ]);
});

it("feeds an output of a turn to the next turn, and gives other inputs the same value in every turn", () => {
  const { plan: runPlan } = judged({ inputs: { style: "grand" } });
  const sources = new Map(runPlan!.steps.map((step) => [step.id, step.sources]));
  expect(sources.get("l/1/write")).toEqual({ draft: [{ value: "one" }], style: [{ value: "grand" }] });
  expect(sources.get("l/2/write")).toEqual({ draft: [{ node: "l/1/write", port: "text" }], style: [{ value: "grand" }] });
  expect(sources.get("l/3/write")).toEqual({ draft: [{ node: "l/2/write", port: "text" }], style: [{ value: "grand" }] });
});

it("marks every turn after the first as conditional, because the loop can end before it", () => {
  const { plan: runPlan } = judged();
  const conditional = runPlan!.steps.filter((step) => step.conditional).map(({ id }) => id);
  expect(conditional).toEqual(["l/2/write", "l/2/judge", "l/2", "l/3/write", "l/3/judge", "l/3"]);
  const { plan: fixed } = judged({ until: "" });
  expect(fixed!.steps.filter((step) => step.conditional)).toEqual([]);
});

it("takes the result from one of the turns, so that a node behind the loop runs once", () => {
  const { plan: runPlan } = plan(
    [
      text("one"),
      loop({ slug: "improve", count: 3, until: "score == '4'", feedback: { text: "draft" } }),
      { id: "pic", type: "generate-image", data: { model: "pic", prompt: "" } },
      OUT,
    ],
    [
      ["start.text", "l.draft"],
      ["l.text", "pic.prompt"],
      ["pic.image", "out.images"],
    ],
  );
  const pic = runPlan!.steps.find(({ id }) => id === "pic")!;
  expect(pic).toMatchObject({ maxItems: 1, maxMillicredits: 2_000 });
  expect(pic.conditional).toBeUndefined();
  expect(pic.itemLimit ?? 1).toBe(1);
});

it("decides a loop whose values are known before the run", () => {
  const edges: Edge[] = [
    ["l.word", "out.word"],
    ["l.turns", "out.turns"],
  ];
  const of = (data: Record<string, unknown>) =>
    plan([loop({ slug: "grow", count: 5, inputs: { word: "b" }, feedback: { word: "word" }, ...data }), OUT], edges).plan!;
  expect(of({ until: "length(word) >= `3`" })).toMatchObject({ steps: [], output: { word: [{ value: "baa" }], turns: [{ value: 2 }] } });
  expect(of({})).toMatchObject({ steps: [], output: { word: [{ value: "baaaaa" }], turns: [{ value: 5 }] } });
  // Text that says true isn't true.
  expect(of({ until: "'true'" })).toMatchObject({ output: { turns: [{ value: 5 }] } });
});

it("multiplies nested loops, and counts their nodes together", () => {
  const twice = (count: number): InlineGraph =>
    graphOf(
      [input({ name: "word", type: "text" }), loop({ slug: "grow", count, feedback: { word: "word" } }, "deep"), OUT],
      [
        ["in.word", "deep.word"],
        ["deep.word", "out.word"],
      ],
    );
  const planOfCount = (count: number) =>
    plan([loop({ slug: "twice", count: 3, inputs: { word: "" }, feedback: { word: "word" } }), OUT], [["l.word", "out.word"]], {
      ...library,
      twice: twice(count),
    });
  const { plan: small } = planOfCount(2);
  expect(small!.output).toEqual({ word: [{ value: "aaaaaa" }] });
  expect(small!.evaluated.map(({ id }) => id)).toContain("l/3/deep/2/box");
  const large = plan(
    [loop({ slug: "twice", count: 20, inputs: { word: "" }, feedback: { word: "word" } }), OUT],
    [["l.word", "out.word"]],
    { ...library, twice: twice(20) },
  );
  expect(messages(large)).toEqual([
    "l: with the nodes of all turns the graph has more than 500 nodes: lower count, or shorten the workflow",
  ]);
});

it.each<[string, Record<string, unknown>, string]>([
  ["no count", { count: undefined }, "l: count: must be a whole number from 1 to 20"],
  ["too many turns", { count: 21 }, "l: count: must be a whole number from 1 to 20"],
  ["no workflow", { slug: "" }, "l: slug: must name a workflow"],
  ["a wrong expression", { until: "score ==" }, "l: until: its end at character 9 isn't allowed there"],
  [
    "an expression over an output that the workflow doesn't have",
    { until: "scor == '4'" },
    "l: until: the workflow has no output scor; it has text, score: did you mean score?",
  ],
  ["feedback that isn't an object", { feedback: ["text"] }, "l: feedback: must be an object that names an input for each output"],
  ["feedback without an input", { feedback: { text: 1 } }, "l: feedback.text: must name an input"],
  [
    "feedback from an output that the workflow doesn't have",
    { feedback: { txt: "draft" } },
    "l: feedback: the workflow has no output txt; it has text, score: did you mean text?",
  ],
  [
    "feedback to an input that the workflow doesn't have",
    { feedback: { text: "darft" } },
    "l: feedback.text: the workflow has no input darft; it has draft, style: did you mean draft?",
  ],
  ["two outputs for an input", { feedback: { text: "draft", score: "draft" } }, "l: feedback: two outputs feed the input draft"],
])("refuses %s", (_what, data, message) => {
  const planning = judged(data);
  expect(messages(planning)).toContain(message);
  expect(planning.issues.every(({ code }) => code === "SETTING_INVALID")).toBe(true);
});

it("refuses an output that the loop doesn't have, and feedback of a type that doesn't fit", () => {
  const film = plan([loop({ slug: "pictures", count: 2 }), OUT], [["l.video", "out.videos"]]);
  expect(messages(film)).toContain("l: l has no output video (edge e0); it has film, turns");
  const wrong = graphOf(
    [input({ name: "word", type: "text" }), { id: "pic", type: "generate-image", data: { model: "pic", prompt: "x" } }, OUT],
    [["pic.image", "out.image"]],
  );
  const fed = plan([loop({ slug: "wrong", count: 2, feedback: { image: "word" } }), OUT], [["l.image", "out.image"]], { wrong });
  expect(fed.issues).toMatchObject([{ nodeId: "l", code: "TYPE_MISMATCH" }]);
});

it("names the workflow of a loop like that of a workflow node", () => {
  const nodes = [loop({ slug: "grow", count: 2, version: 3 })];
  expect(workflowReferences(graphOf(nodes, []))).toEqual([{ nodeId: "l", slug: "grow", version: "3", isLoop: true }]);
  const nodesJson = JSON.stringify(nodes);
  expect(linkedSlugs(nodesJson)).toEqual(["grow"]);
  const { nodesJson: moved, unpinned } = relinked(nodesJson, new Map([["grow", "grown"]]));
  expect(unpinned).toEqual(["grow"]);
  expect(JSON.parse(moved)).toEqual([{ ...nodes[0], data: { slug: "grown", count: 2 } }]);
});

it("names a problem of an inner node once, at the first turn", () => {
  const broken = graphOf([{ id: "pic", type: "generate-image", data: { model: "nonesuch" } }, OUT], [["pic.image", "out.images"]]);
  const planning = plan([loop({ slug: "broken", count: 20 }), OUT], [["l.images", "out.images"]], { broken });
  expect(messages(planning)).toEqual(["l/1/pic: there is no enabled model nonesuch"]);
});

it("warns once about an inner node, however many turns it has", () => {
  const vague = graphOf(
    [{ id: "say", type: "llm-assistant", data: { model: "chat", prompt: "{{a}} {{b}} {{c}} {{d}} {{e}} {{f}}" } }, OUT],
    [["say.text", "out.text"]],
  );
  const planning = plan([loop({ slug: "vague", count: 20 }), OUT], [["l.text", "out.text"]], { vague });
  expect(Object.keys(planning.plan!.warnings)).toEqual(["l/1/say"]);
});
