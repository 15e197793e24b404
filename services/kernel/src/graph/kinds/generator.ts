import { outputCount, PRICED_INPUTS, propertySchema } from "../prices/price";
import type { KnownCalls } from "../plan/call-costs";
import { planCalls } from "../plan/call-plan";
import { NOTHING_PLANNED } from "../plan/plan-types";
import { URL_TOKENS } from "../plan/abstract";
import type { MediaFamily } from "../values/media";
import type { NodeType } from "../types";
import { literalInputs } from "../wiring/ports";
import type { NodeKind } from "./kind";
import { checkModelNode, MODEL_SETTINGS, modelPorts } from "./model-node";

const filesOfCall = ({ terms: { inputSchema }, candidates, unknown }: KnownCalls): number =>
  unknown.has(PRICED_INPUTS.image)
    ? Number(propertySchema(inputSchema, PRICED_INPUTS.image)?.maximum ?? 1)
    : Math.max(1, ...candidates.map((inputs) => outputCount(inputSchema, inputs)));

/** Defines a node kind that generates files with a model, in one call per item. */
export const generator = (type: NodeType, modality: MediaFamily, summary: string): NodeKind => {
  const kind: NodeKind = {
    type,
    summary,
    settings: MODEL_SETTINGS,
    calls: "model",
    modality,
    runs: true,
    portsOfModel: true,
    inputs: modelPorts,
    outputs: () => new Map([[modality, modality]]),
    defaultInput: () => "prompt",
    check: checkModelNode,
    plan: (planner, node) => {
      const planned = planCalls(planner, kind, node);
      if (!planned) return NOTHING_PLANNED;
      const { step, bounds, alternatives } = planned;
      const filesPerCall = Math.max(...[planned, ...alternatives].map(filesOfCall));
      const [items, most] = [bounds.items * filesPerCall, bounds.limit * filesPerCall];
      return { step, outputs: new Map([[modality, { list: bounds.mapped || filesPerCall > 1, items, most, tokens: URL_TOKENS * most }]]) };
    },
    savedCount: (node, _flowing, items) => {
      const each = literalInputs(node, undefined)[PRICED_INPUTS.image];
      return items * (typeof each === "number" && each > 0 ? each : 1);
    },
  };
  return kind;
};
