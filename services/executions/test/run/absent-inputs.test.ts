import { planRun, readGraph, shareTexts, type ModelTerms, type PlanStep, type RunPlan } from "@nodeloom/kernel";
import { GraphRun } from "../../src/run/graph-run";

/** Runs with empty optional inputs. A plan is sent as JSON, and the run ends as usual. */

const inputSchema = {
  type: "object",
  properties: {
    prompt: { type: "string" },
    seed: { type: "integer" },
    image: { type: "string", format: "media" },
    images: { type: "array", items: { type: "string", format: "media" } },
  },
};
const PIC: ModelTerms = {
  ...{ internalName: "pic", modality: "image", providerKind: "http-polling", price: { basis: "run", microUsd: 1 }, inputSchema },
  validate: () => [],
};
const MADE = { url: "https://m.test/made.png", contentType: "image/png" };

type Node = [id: string, type: string, data?: Record<string, unknown>];
type Edge = [from: string, to: string];

const FIELDS = ["text", "textarea", "number", "boolean", "select", "image_upload", "video_upload", "audio_upload", "json"];
const fields = (type: string) => [
  { name: "given", default: "a fox" },
  { name: "empty", type, options: ["a"] },
];

const endOf = (nodes: readonly Node[], edges: readonly Edge[]) =>
  edges.map(([from, to], index) => {
    const [[source, sourceHandle], [target, targetHandle]] = [from.split("."), to.split(".")];
    return { id: `e${index}`, source, sourceHandle, target, targetHandle };
  });

const planOf = (type: string, nodes: readonly Node[], edges: readonly Edge[]): RunPlan => {
  const all: Node[] = [
    ["in", "request-input", { fields: fields(type) }],
    ["pic", "generate-image", { model: "pic", prompt: "{{p}}" }],
    ...nodes,
  ];
  const { plan, issues } = planRun({
    graph: readGraph(
      JSON.stringify([...all, ["out", "response-output"] as Node].map(([id, kind, data = {}]) => ({ id, type: kind, data }))),
      JSON.stringify(endOf(all, [["in.given", "pic.p"], ["pic.image", "out.images"], ...edges])),
    ),
    inputs: new Map([["given", "a fox"]]),
    models: new Map([["pic", PIC]]),
    media: new Map(),
    markupPermille: 1_000,
  });
  if (!plan) throw new Error(JSON.stringify(issues));
  return plan;
};

const travelled = (plan: RunPlan): RunPlan => JSON.parse(JSON.stringify(shareTexts(plan))) as RunPlan;

/** Runs a plan; models create one file per item. */
const runOf = (plan: RunPlan) => {
  const run = new GraphRun(plan);
  const doneIds = new Set(run.nodes.filter(({ status }) => status !== "pending").map(({ id }) => id));
  const started = new Set<string>();
  const calls: Record<string, Record<string, unknown>[]> = {};
  const call = (step: PlanStep): void => {
    const { items, mapped } = run.bind(step);
    calls[step.id] = items.map((item) => run.inputs.ofCall(step, item));
    run.give(step.id, "image", mapped ? items.map(() => MADE) : MADE);
  };
  for (let ready = run.readyAfter(doneIds, started); ready.length > 0; ready = run.readyAfter(doneIds, started))
    for (const step of ready) {
      started.add(step.id);
      run.start(step, 0);
      if (step.model === undefined) run.evaluate(step);
      else call(step);
      run.complete(step.id, 0);
      doneIds.add(step.id);
    }
  const { status, result } = run.end(undefined);
  return { status, result, calls };
};

const IMAGES = { images: [{ url: MADE.url }] };

const CASES: [where: string, nodes: Node[], edges: Edge[], result: object][] = [
  ["straight to the result", [], [["in.empty", "out.note"]], { note: null }],
  [
    "into a member of the result, beside a call",
    [],
    [
      ["in.empty", "out.all"],
      ["pic.image", "out.all"],
    ],
    { all: [MADE] },
  ],
  ["into the prompt of a call", [], [["in.empty", "pic.p"]], {}],
  [
    "into a text",
    [["t", "text-box", { text: "{{a}}|{{b}}" }]],
    [
      ["in.empty", "t.a"],
      ["pic.image", "t.b"],
      ["t.text", "out.text"],
    ],
    { text: `|${MADE.url}` },
  ],
  [
    "into a list",
    [["l", "list", { items: ["x"] }]],
    [
      ["in.empty", "l.items"],
      ["pic.image", "l.items"],
      ["l.items", "out.l"],
    ],
    { l: ["x", MADE] },
  ],
  [
    "into JSON",
    [["j", "json", { expression: "[0].url" }]],
    [
      ["in.empty", "j.value"],
      ["pic.image", "j.value"],
      ["j.value", "out.j"],
    ],
    { j: MADE.url },
  ],
  [
    "into what a switch decides by",
    [["s", "switch", { cases: [{ name: "there", left: "{{a}}", op: "exists" }] }]],
    [
      ["in.empty", "s.a"],
      ["pic.image", "s.value"],
      ["s.there", "out.there"],
      ["s.else", "out.not"],
    ],
    { not: MADE },
  ],
  [
    "into a switch, as its value",
    [["s", "switch", { cases: [{ name: "there", left: "{{a}}", op: "exists" }] }]],
    [
      ["in.empty", "s.value"],
      ["pic.image", "s.a"],
      ["s.there", "out.there"],
      ["s.else", "out.not"],
    ],
    { there: null },
  ],
];

describe.each(FIELDS)("a run with an empty optional %s ends, even if it is linked", (type) => {
  it.each(CASES)("%s", (_where, nodes, edges, result) => {
    const plan = planOf(type, nodes, edges);
    const endedRun = runOf(travelled(plan));
    expect(endedRun).toMatchObject({ status: "completed", calls: { pic: [{ prompt: "a fox" }] } });
    expect(endedRun.result).toEqual({ ...IMAGES, ...result });
    expect(travelled(plan)).toStrictEqual(plan);
  });
});

it.each(["text", "image_upload", "json"])("returns the files of calls if an optional %s beside them is empty", (type) => {
  const plan = planOf(type, [], [["in.empty", "out.images"]]);
  expect(runOf(travelled(plan))).toMatchObject({ status: "completed", result: IMAGES });
});

it.each([
  ["seed", "number"],
  ["image", "image_upload"],
  ["images", "image_upload"],
])("omits the input %s from a call if its %s field is empty", (port, type) => {
  const plan = planOf(type, [], [["in.empty", `pic.${port}`]]);
  expect(runOf(travelled(plan))).toMatchObject({ status: "completed", calls: { pic: [{ prompt: "a fox" }] } });
  expect(runOf(travelled(plan)).calls.pic![0]).not.toHaveProperty(port, expect.anything());
});

it("omits null or empty values from a list of files", () => {
  const plan = planOf(
    "text",
    [["l", "list", { items: ["", null] }]],
    [
      ["l.items", "pic.images"],
      ["in.empty", "pic.images"],
    ],
  );
  expect(runOf(travelled(plan)).calls.pic).toEqual([{ prompt: "a fox", images: [] }]);
});

it("ends a run planned by version 1.0.0, in which an empty input is a source without members", () => {
  const plan = planOf(
    "text",
    [["t", "text-box", { text: "{{a}}|{{b}}" }]],
    [
      ["in.empty", "t.a"],
      ["pic.image", "t.b"],
      ["t.text", "out.text"],
      ["in.empty", "out.note"],
    ],
  );
  const stored = JSON.parse(JSON.stringify(plan).replaceAll('{"absent":true}', "{}")) as RunPlan;
  expect(JSON.stringify(stored)).toContain("[{}]");
  expect(runOf(stored)).toMatchObject({ status: "completed", result: { ...IMAGES, text: `|${MADE.url}`, note: null } });
});

it("rejects a plan with a value that JSON drops", () => {
  const plan = planOf("text", [], []);
  const dropped = { ...plan, output: { ...plan.output, note: [{ value: { list: [undefined] } }] } };
  expect(() => shareTexts(dropped)).toThrow("JSON can't represent");
});
