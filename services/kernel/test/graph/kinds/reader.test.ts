import { planRun, type ModelTerms, type PlanResult } from "@nodeloom/kernel";
import { graphOf, model, OUT, schema, type Edge, type Node } from "../../support";

/** Models that return JSON with their text, such as the words of a transcription. */

const [, reader] = model("reader", "text", { basis: "run", microUsd: 4_500 }, schema({ audio: { type: "string", format: "media" } }, []));
const terms = (part: Partial<ModelTerms> = {}): ReadonlyMap<string, ModelTerms> =>
  new Map([["reader", { ...reader, providerKind: "direct-http", outputs: ["text", "json"], ...part }]]);
const node = (data: object = {}): Node => ({ id: "read", type: "llm-assistant", data: { model: "reader", prompt: "x", ...data } });
const plan = (edges: Edge[], models = terms(), data = {}): PlanResult =>
  planRun({ graph: graphOf([node(data), OUT], edges), inputs: new Map(), models, media: new Map(), markupPermille: 1_000 });

it("have both ports without any setting", () => {
  const { plan: planned } = plan([
    ["read.text", "out.text"],
    ["read.json", "out.words"],
  ]);
  expect(planned!.output).toEqual({ text: [{ node: "read", port: "text" }], words: [{ node: "read", port: "json" }] });
});

it("have one if the model returns no JSON, and the error names it", () => {
  expect(plan([["read.json", "out.words"]], terms({ outputs: ["text"] })).issues).toMatchObject([
    { nodeId: "out", message: expect.stringContaining("read has no output json") as string },
  ]);
});

it("hold nothing for a second answer to a schema, because only a text model is asked again", () => {
  const repairOf = (models: ReadonlyMap<string, ModelTerms>): number =>
    plan([["read.json", "out.words"]], models, { schema: { type: "array" } }).plan!.steps[0]!.answer!.maxRepairMillicredits;
  expect(repairOf(terms())).toBe(0);
  expect(repairOf(terms({ providerKind: "llm" }))).toBeGreaterThan(0);
});
