import { millicreditsFor } from "../money";
import { literalInputs } from "./ports";
import { worstCaseMicroUsd, type JsonSchema, type Price } from "./price";
import { isGeneratorType, type Graph } from "./types";

/** A generator node as far as its price depends on the saved graph. */
export interface GeneratorUse {
  nodeId: string;
  /** internalName; empty when none is chosen yet. */
  model: string;
  /** Literal inputs that a price may depend on. */
  inputs: Record<string, unknown>;
}

/** Every generator of a graph. Only numbers are kept of the inputs: nothing else can change a price. */
export const generatorUses = (graph: Graph): GeneratorUse[] =>
  graph.nodes
    .filter((node) => isGeneratorType(node.type))
    .map((node) => ({
      nodeId: node.id,
      model: typeof node.data.model === "string" ? node.data.model : "",
      inputs: Object.fromEntries(
        [...Object.entries(node.data), ...Object.entries(literalInputs(node, undefined))].filter(([, value]) => typeof value === "number"),
      ),
    }));

/**
 * Credits one run is expected to cost, in milli-credits; null without generators. Each generator counts once.
 * Models that are not enabled count nothing.
 */
export const estimateMillicredits = (
  uses: readonly GeneratorUse[],
  models: ReadonlyMap<string, { price: Price; inputSchema: JsonSchema }>,
  markupPermille: number,
): number | null => {
  if (uses.length === 0) return null;
  const cost = uses.reduce((sum, use) => {
    const model = models.get(use.model);
    if (!model) return sum;
    const { price, inputSchema: schema } = model;
    return (
      sum + millicreditsFor(worstCaseMicroUsd({ price, schema, inputs: use.inputs, unknown: new Set(), inputTokens: 0 }), markupPermille)
    );
  }, 0);
  return cost;
};
