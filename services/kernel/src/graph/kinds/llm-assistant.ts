import { planCalls, textTokens } from "../call-plan";
import { NOTHING_PLANNED } from "../plan-types";
import type { NodeKind } from "./kind";
import { checkModelNode, MODEL_SETTINGS, modelPorts } from "./model-node";

export const llmAssistant: NodeKind = {
  type: "llm-assistant",
  summary: "Asks a language model.",
  settings: {
    ...MODEL_SETTINGS,
    system: { type: "string", description: "The system prompt, with {{placeholders}}." },
    prompt: { type: "string", description: "The prompt, with {{placeholders}}." },
    image: { type: "string", description: "A file for models that read images." },
    maxTokens: { type: "integer", minimum: 1 },
    temperature: { type: "number", minimum: 0 },
  },
  calls: "model",
  modality: "text",
  runs: true,
  portsOfModel: true,
  inputs: modelPorts,
  outputs: () => new Map([["text", "text"]]),
  defaultInput: () => "prompt",
  check: checkModelNode,
  plan: (planner, node) => {
    const planned = planCalls(planner, llmAssistant, node);
    if (!planned) return NOTHING_PLANNED;
    const { step, bounds } = planned;
    const { items, limit: most, mapped: list } = bounds;
    return { step, outputs: new Map([["text", { list, items, most, tokens: textTokens(planned) }]]) };
  },
};
