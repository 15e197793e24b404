import { RESULT_TYPE, type Reported, type RunPlan } from "@nodeloom/kernel/graph";
import type { NodeState, NodeStatus } from "./types";

/** The nodes of a run as they are before it starts, and where it goes no further. */

const newNode = (
  { labels = {} }: RunPlan,
  { id, type, outputsJson, truncated }: Pick<NodeState, "id" | "type" | keyof Reported>,
  status: NodeStatus,
  warnings: string[],
  items: number,
): NodeState => ({
  id,
  type,
  ...(Object.hasOwn(labels, id) ? { label: labels[id]! } : {}),
  status,
  startedAt: null,
  durationMs: null,
  millicredits: 0,
  error: null,
  requestId: null,
  warnings,
  cancelReport: null,
  items,
  itemsDone: 0,
  ...(outputsJson === undefined ? {} : { outputsJson }),
  ...(truncated ? { truncated } : {}),
});

const warningsOf = ({ warnings }: RunPlan, id: string): string[] => (Object.hasOwn(warnings, id) ? warnings[id]! : []);

/** Nodes that make the result, and that are no steps: what they name is in our storage already. */
export const resultNodes = ({ outputNodes, steps }: RunPlan): string[] => {
  const run = new Set(steps.map((step) => step.id));
  return outputNodes.filter((id) => !run.has(id));
};

/** Every node of a run before it starts: what planning evaluated is done, the rest is pending. */
export const initialNodes = (plan: RunPlan): NodeState[] => [
  ...plan.evaluated.map((node) => newNode(plan, node, "completed", node.warnings, 0)),
  ...(plan.skipped ?? []).map((node) => newNode(plan, node, "skipped", warningsOf(plan, node.id), 0)),
  ...plan.steps.map((step) => newNode(plan, step, "pending", warningsOf(plan, step.id), step.maxItems)),
  ...resultNodes(plan).map((id) => newNode(plan, { id, type: RESULT_TYPE }, "pending", warningsOf(plan, id), 0)),
];

/** Different sentences of a node's calls that are shown. */
export const MOST_CALL_WARNINGS = 10;

type Ended = Pick<NodeState, "cutTexts" | "callWarnings" | "itemErrors" | "items">;

/** What a node's calls are warned of, once they are over. */
export const endWarnings = ({ cutTexts, callWarnings = [], itemErrors, items }: Ended): string[] => {
  const cut = items > 1 ? `${cutTexts} of ${items} texts end` : "the text ends";
  return [
    ...(cutTexts ? [`${cut} where the most tokens of an answer were reached: raise maxTokens`] : []),
    ...callWarnings,
    ...(itemErrors ? [`${itemErrors.length} of ${items} items failed and were left out`] : []),
  ];
};

/** Nodes of a run that goes no further: what never ran is skipped. */
export const skipPending = (nodes: readonly NodeState[]): NodeState[] =>
  nodes.map((node) => (node.status === "pending" ? { ...node, status: "skipped" } : node));

/** Ends the nodes of a run that stops: what never ran is skipped; what still ran is cancelled. */
export const stopNodes = (nodes: readonly NodeState[], now: number): void => {
  for (const node of nodes) {
    if (node.status === "pending") node.status = "skipped";
    if (node.status !== "processing") continue;
    node.status = "cancelled";
    node.cancelReport ??= "stopped";
    node.durationMs = now - (node.startedAt ?? now);
  }
};
