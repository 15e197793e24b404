import { createInputCheck, planRun, readGraph, type GraphIssue, type ModelTerms, type RunPlan } from "@nodeloom/kernel";

export const schema = (properties: Record<string, unknown>, required: string[] = ["prompt"]): ModelTerms["inputSchema"] => ({
  type: "object",
  additionalProperties: false,
  required,
  properties: { prompt: { type: "string" }, image: { type: "string", format: "media" }, ...properties },
});
export const model = (
  internalName: string,
  modality: string,
  price: ModelTerms["price"],
  inputSchema = schema({}),
): [string, ModelTerms] => [
  internalName,
  {
    internalName,
    modality,
    providerKind: modality === "text" ? "llm" : "http-polling",
    price,
    inputSchema,
    validate: (inputs) => createInputCheck(inputSchema)(inputs),
  },
];
export const MODELS = new Map<string, ModelTerms>([
  model("pic", "image", { basis: "image", microUsd: 20_000 }, schema({ count: { type: "integer", minimum: 1, maximum: 4, default: 1 } })),
  model(
    "clip",
    "video",
    { basis: "second", microUsd: 50_000 },
    schema({ seconds: { type: "integer", minimum: 1, maximum: 10, default: 4 } }),
  ),
  model(
    "chat",
    "text",
    { basis: "tokens", inputMicroUsdPerMillion: 500_000, outputMicroUsdPerMillion: 1_500_000 },
    schema({ maxTokens: { type: "integer", default: 512, maximum: 4096 } }),
  ),
]);

export type Node = { id: string; type: string; data?: Record<string, unknown> };
export type Edge = [string, string];
const port = (end: string): [string, string | null] => [end.split(".")[0]!, end.split(".")[1] ?? null];
export const graphOf = (nodes: Node[], edges: Edge[]): ReturnType<typeof readGraph> =>
  readGraph(
    JSON.stringify(nodes),
    JSON.stringify(
      edges.map(([from, to], index) => ({
        id: `e${index}`,
        source: port(from)[0],
        sourceHandle: port(from)[1],
        target: port(to)[0],
        targetHandle: port(to)[1],
      })),
    ),
  );
export const planned = (nodes: Node[], edges: Edge[], inputs: Record<string, unknown> = {}): RunPlan => {
  const result = planRun({
    graph: graphOf(nodes, edges),
    inputs: new Map(Object.entries(inputs)),
    models: MODELS,
    media: new Map(),
    markupPermille: 1_500,
  });
  if (!result.plan) throw new Error(JSON.stringify(result.issues));
  return result.plan;
};
/** Issues by node and message; codes have their own tests. */
export const issues = (nodes: Node[], edges: Edge[]): Pick<GraphIssue, "nodeId" | "message">[] =>
  planRun({ graph: graphOf(nodes, edges), inputs: new Map(), models: MODELS, media: new Map(), markupPermille: 1_500 }).issues.map(
    ({ nodeId, message }) => ({ nodeId, message }),
  );

export const input = (...fields: Record<string, unknown>[]): Node => ({ id: "in", type: "request-input", data: { fields } });
export const OUT: Node = { id: "out", type: "response-output" };
