import { randomInt } from "node:crypto";
import { isRecord, member } from "@nodeloom/kernel";
import type { ComfyUiSettings } from "../../entries/settings";

/** The workflow of a ComfyUI model with the inputs of one call in it. */

/** Inputs that make the same workflow give something else: the server answers one that it has carried out before from its cache. */
const SEEDS = ["seed", "noise_seed"];
const MAX_SEED = 2 ** 48 - 1;

/** The workflow with a call's inputs in it. A seed that the call does not give is a new one, unless a wire leads to it. */
export const workflowWith = (
  settings: Pick<ComfyUiSettings, "workflow" | "inputs">,
  inputs: Readonly<Record<string, unknown>>,
): unknown => {
  const nodes = JSON.parse(settings.workflow) as Record<string, { inputs?: Record<string, unknown> }>;
  for (const node of Object.values(nodes)) {
    for (const name of SEEDS) if (isRecord(node.inputs) && typeof node.inputs[name] === "number") node.inputs[name] = randomInt(MAX_SEED);
  }
  for (const [name, { node, input }] of Object.entries(settings.inputs)) {
    if (member(inputs, name) === undefined || !Object.hasOwn(nodes, node)) continue;
    const target = nodes[node]!;
    target.inputs = { ...target.inputs, [input]: inputs[name] };
  }
  return nodes;
};
