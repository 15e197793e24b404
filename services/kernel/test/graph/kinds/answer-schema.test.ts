import { itemKey, planRun, repairKey, type GraphIssue, type PlanStep } from "@nodeloom/kernel";
import { graphOf, MODELS, OUT, planned, type Edge, type Node } from "../../support";

const asker = (data: Record<string, unknown>): Node => ({
  id: "ask",
  type: "llm-assistant",
  data: { model: "chat", prompt: "scenes", ...data },
});
const stepOf = (nodes: Node[], edges: Edge[], id: string): PlanStep => planned(nodes, edges).steps.find((step) => step.id === id)!;
const problems = (nodes: Node[], edges: Edge[] = []): GraphIssue[] =>
  planRun({ graph: graphOf(nodes, edges), inputs: new Map(), models: MODELS, media: new Map(), markupPermille: 1_500 }).issues;
const SCENES = { type: "array", minItems: 1, maxItems: 4, items: { type: "string" } };
const PIC: Node = { id: "pic", type: "generate-image", data: { model: "pic", inputs: { prompt: "{{scene}}" } } };
const BEHIND: Edge[] = [
  ["ask.json", "pic.scene"],
  ["pic.image", "out.images"],
];

it("plans a node with JSON answers, including the upper price of a second answer", () => {
  const plain = stepOf([asker({}), OUT], [["ask.text", "out.text"]], "ask");
  const step = stepOf([asker({ schema: SCENES }), OUT], [["ask.json", "out.scenes"]], "ask");
  expect(plain.answer).toBeUndefined();
  expect(step.answer?.schema).toEqual(SCENES);
  // The schema adds tokens, and the repair call includes the first answer.
  expect(step.maxMillicredits).toBeGreaterThan(plain.maxMillicredits);
  expect(step.answer!.maxRepairMillicredits).toBeGreaterThan(step.maxMillicredits);
  expect(repairKey(itemKey("ask", 0))).toBe("ask:0.repair");
});

it.each([
  ["an object", SCENES],
  ["an editor's text", JSON.stringify(SCENES)],
])("accepts the schema as %s", (_form, schema) =>
  expect(stepOf([asker({ schema }), OUT], [["ask.json", "out.x"]], "ask").answer?.schema).toEqual(SCENES),
);

it.each([undefined, null, ""])("has no port json without a schema: %j", (schema) =>
  expect(problems([asker({ schema }), OUT], [["ask.json", "out.x"]])).toMatchObject([
    { nodeId: "out", message: "ask has no output json (edge e0); it has text" },
  ]),
);

it.each<[string, Record<string, unknown>, { maxItems: number; itemLimit: number }]>([
  ["a list of up to four counts as one", SCENES, { maxItems: 1, itemLimit: 4 }],
  ["a list of exactly four counts as four", { ...SCENES, minItems: 4 }, { maxItems: 4, itemLimit: 4 }],
  ["a list without bounds may have fifty", { type: "array" }, { maxItems: 1, itemLimit: 50 }],
  ["what may be a list may have fifty", { anyOf: [SCENES] }, { maxItems: 1, itemLimit: 50 }],
  ["an object is one", { type: "object" }, { maxItems: 1, itemLimit: 1 }],
])("determines the maximum number of items: %s", (_what, schema, expected) =>
  expect(stepOf([asker({ schema }), PIC, OUT], BEHIND, "pic")).toMatchObject(expected),
);

it.each<[unknown, string]>([
  [[], "schema: must be an object, a JSON Schema"],
  ["{", "schema: must be an object, a JSON Schema"],
  [{ items: { $ref: "https://x.test/s" } }, "schema: items.$ref must be a JSON pointer into the schema itself, for example #/$defs/scene"],
  [{ pattern: "(" }, 'schema: pattern "(" isn\'t a valid regular expression (RE2)'],
])("rejects an unusable schema, and names the node: %j", (schema, message) =>
  expect(problems([asker({ schema }), OUT], [["ask.json", "out.x"]])).toMatchObject([{ nodeId: "ask", message }]),
);

it("suggests a setting for a misspelt one", () =>
  expect(planned([asker({ shema: SCENES }), OUT], [["ask.text", "out.text"]]).warnings).toEqual({
    ask: ["there is no setting shema: did you mean schema?"],
  }));
