import { holdItems, modelNames, planRun, shareTexts, withSharedTexts, type ModelTerms } from "@nodeloom/kernel";
import { graphOf, model, schema, type Edge, type Node } from "../../support";

const painter = (name: string, microUsd: number, properties: Record<string, unknown> = {}, more: Partial<ModelTerms> = {}): ModelTerms => ({
  ...model(name, "image", { basis: "run", microUsd }, schema(properties))[1],
  ...more,
});
const TEXT = { type: "string" };
const MODELS = [
  painter("cheap", 10_000, { seed: { type: "integer" }, ratio: TEXT }),
  painter("dear", 40_000, { aspect_ratio: { type: "string", enum: ["1:1"] } }),
  painter("watched", 20_000, { ratio: TEXT, seed: { type: "integer" } }, { fallback: ["dear", "gone", "singer"] }),
  model("singer", "audio", { basis: "run", microUsd: 1_000 })[1],
  model("chat", "text", { basis: "tokens", inputMicroUsdPerMillion: 500_000, outputMicroUsdPerMillion: 1_500_000 })[1],
  model("wise", "text", { basis: "tokens", inputMicroUsdPerMillion: 5_000_000, outputMicroUsdPerMillion: 15_000_000 })[1],
];

const plan = (nodes: Node[], edges: Edge[] = [], inputs: Record<string, unknown> = {}) =>
  planRun({
    graph: graphOf(nodes, edges),
    inputs: new Map(Object.entries(inputs)),
    models: new Map(MODELS.map((one) => [one.internalName, one])),
    media: new Map(),
    markupPermille: 1_000,
  });
const picture = (data: Record<string, unknown>): Node => ({ id: "pic", type: "generate-image", data: { prompt: "a boat", ...data } });
const issuesOf = (data: Record<string, unknown>): string[] => plan([picture(data)]).issues.map(({ message }) => message);

it("plans each alternative by its own schema and price, with one hold entry each", () => {
  const { plan: runPlan } = plan([picture({ model: "cheap", fallback: ["dear"], ratio: "1:1" })]);
  const [step] = runPlan!.steps;
  expect(step!.fallback).toEqual([expect.objectContaining({ model: "dear", literals: { prompt: "a boat", aspect_ratio: "1:1" } })]);
  expect(holdItems(runPlan!)).toEqual([
    { key: "pic:0", model: "cheap", maxMillicredits: 1_000 },
    { key: "pic:0.alt1", model: "dear", maxMillicredits: 4_000, alternativeTo: "pic:0" },
  ]);
  expect(Object.keys(runPlan!.models)).toEqual(["cheap", "dear"]);
});

it("drops an input that an alternative doesn't have, with a warning", () => {
  const { plan: runPlan } = plan([picture({ model: "cheap", fallback: ["dear"], seed: 3 })]);
  expect(runPlan!.steps[0]!.fallback![0]!.literals).toEqual({ prompt: "a boat" });
  expect(runPlan!.warnings.pic).toContain("fallback: dear has no input seed: the input is ignored when that model is called");
});

it("passes linked values to an alternative with its own input names", () => {
  const { plan: runPlan } = plan(
    [
      { id: "in", type: "request-input", data: { fields: [{ name: "shape", type: "text" }] } },
      { id: "ask", type: "llm-assistant", data: { model: "chat", prompt: "which?" } },
      picture({ model: "cheap", fallback: ["dear"] }),
    ],
    [["ask.text", "pic.ratio"]],
  );
  expect(runPlan!.steps[1]!.fallback![0]).toMatchObject({ renamed: { ratio: "aspect_ratio" }, inputNames: ["prompt", "aspect_ratio"] });
});

it.each([
  [["nonesuch"], "fallback: there is no enabled model nonesuch"],
  [["cheap"], "fallback: cheap can't be its own fallback"],
  [["dear", "dear"], "fallback: names dear twice"],
  [["singer"], "fallback: singer: generates audio, but this node needs a model that generates image"],
  [["auto:image"], "fallback: auto:image is a task; only models can be named here"],
  [["a", "b", "c", "d", "e", "f"], "fallback: names 6 models, at most 5 are allowed"],
  ["dear", "fallback: must be a list of models' names"],
])("rejects %p", (fallback, message) => {
  expect(issuesOf({ model: "cheap", fallback })).toContain(message);
});

it("reports the node's inputs that an alternative rejects", () => {
  expect(issuesOf({ model: "cheap", fallback: ["dear"], ratio: "16:9" })).toEqual([
    expect.stringContaining("fallback: dear: aspect_ratio: must be"),
  ]);
});

it("uses the administrators' alternatives if a node names none, without those that don't fit it", () => {
  const models = (data: Record<string, unknown>): string[] | undefined =>
    plan([picture({ model: "watched", ...data })]).plan!.steps[0]!.fallback?.map((one) => one.model);
  expect(models({})).toEqual(["dear"]);
  expect(models({ ratio: "16:9" })).toBeUndefined();
  expect(models({ fallback: [] })).toBeUndefined();
  expect(models({ fallback: ["cheap"] })).toEqual(["cheap"]);
});

it("holds the repair of an answer at the price of the model that repairs it", () => {
  const node: Node = {
    id: "ask",
    type: "llm-assistant",
    data: { model: "chat", prompt: "p", fallback: ["wise"], schema: { type: "object" } },
  };
  const [step] = plan([node]).plan!.steps;
  expect(step!.fallback![0]!.answer!.maxRepairMillicredits).toBeGreaterThan(5 * step!.answer!.maxRepairMillicredits);
});

it("stores long texts of alternatives once", () => {
  const runPlan = plan([picture({ model: "cheap", fallback: ["dear"], prompt: "long ".repeat(1_000) })]).plan!;
  const travelled = shareTexts(runPlan);
  expect(JSON.stringify(travelled).length).toBeLessThan(JSON.stringify(runPlan).length * 0.7);
  expect(withSharedTexts(travelled)).toEqual(runPlan);
});

it("lists a graph's models including fallbacks", () => {
  expect(modelNames(graphOf([picture({ model: "cheap", fallback: ["dear", "watched"] })], []))).toEqual(["cheap", "dear", "watched"]);
});
