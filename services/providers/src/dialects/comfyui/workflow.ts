import { randomInt } from "node:crypto";
import { isRecord, member } from "@nodeloom/kernel";
import type { ComfyUiSettings } from "../../entries/settings";

/** Builds the workflow of a ComfyUI model for one call. */

/** Inputs that change the result of an otherwise equal workflow. For an equal workflow, the server returns its cached result. */
const SEEDS = ["seed", "noise_seed"];
const MAX_SEED = 2 ** 48 - 1;

/** Inserts a call's inputs into the workflow. A missing seed is chosen at random, unless another node provides it. */
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
