import type { Graph, GraphIssue, ModelTerms } from "@nodeloom/kernel";

const NODE_TYPE_BY_MODALITY: Readonly<Record<string, readonly [string, string, string]>> = {
  image: ["generate-image", "image", "images"],
  video: ["generate-video", "video", "videos"],
  audio: ["generate-audio", "audio", "audios"],
  text: ["llm-assistant", "text", "text"],
};

/** A direct run is the smallest graph: the model and what it returns. */
export const directGraph = (
  model: Pick<ModelTerms, "internalName" | "modality">,
  inputs: Record<string, unknown>,
): Graph & { issues: GraphIssue[] } => {
  const [type, output, member] = NODE_TYPE_BY_MODALITY[model.modality]!;
  return {
    nodes: [
      { id: "model", type, data: { model: model.internalName, inputs } },
      { id: "output", type: "response-output", data: {} },
    ],
    edges: [{ id: "result", source: "model", target: "output", sourceHandle: output, targetHandle: member }],
    issues: [],
  };
};
