import { modelNodeType, RESULT_TYPE, type Graph, type GraphIssue, type ModelTerms } from "@nodeloom/kernel";

/** A direct run is the smallest graph: the model and what it returns, joined by their first ports. */
export const directGraph = (
  model: Pick<ModelTerms, "internalName" | "modality">,
  inputs: Record<string, unknown>,
): Graph & { issues: GraphIssue[] } => ({
  nodes: [
    { id: "model", type: modelNodeType(model.modality), data: { model: model.internalName, inputs } },
    { id: "output", type: RESULT_TYPE, data: {} },
  ],
  edges: [{ id: "result", source: "model", target: "output", sourceHandle: null, targetHandle: null }],
  issues: [],
});
