import {
  allowsMissing,
  GOES_ON_PORT,
  innerId,
  makesResult,
  type PlanStep,
  type ReportedOutputs,
  RESULT_TYPE,
  type RunPlan,
  type Source,
} from "@nodeloom/kernel/graph";
import { CANCEL_REPORTS, type CancelReport, type NodeState, type NodeStatus, type RunError, type TokenUsage } from "./types";

/** Builds the nodes of a run before it starts and after it stops. */

const newNode = (
  { labels = {} }: RunPlan,
  { id, type, outputsJson, truncated }: Pick<NodeState, "id" | "type" | keyof ReportedOutputs>,
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

/** Returns the result nodes without their own step, whose files are already stored. */
export const resultNodes = ({ outputNodes, steps }: RunPlan): string[] => {
  const run = new Set(steps.map((step) => step.id));
  return outputNodes.filter((id) => !run.has(id));
};

/** Returns all nodes of a run before it starts. Nodes that planning evaluated are completed; the others are pending. */
export const initialNodes = (plan: RunPlan): NodeState[] => [
  ...plan.evaluated.map((node) => newNode(plan, node, "completed", node.warnings, 0)),
  ...(plan.skipped ?? []).map((node) => newNode(plan, node, "skipped", warningsOf(plan, node.id), 0)),
  ...plan.steps.map((step) => newNode(plan, step, "pending", warningsOf(plan, step.id), step.maxItems)),
  ...resultNodes(plan).map((id) => newNode(plan, { id, type: RESULT_TYPE }, "pending", warningsOf(plan, id), 0)),
];

/** Maximum distinct warnings shown per node. */
const MOST_CALL_WARNINGS = 10;

type NodeEnd = Pick<NodeState, "cutTexts" | "callWarnings" | "itemErrors" | "items">;

/** Returns the warnings of a node's calls after the calls have ended. */
const endWarnings = ({ cutTexts, callWarnings = [], itemErrors, items }: NodeEnd): string[] => {
  const cut = items > 1 ? `${cutTexts} of ${items} texts end` : "the text ends";
  return [
    ...(cutTexts ? [`${cut} where the most tokens of an answer were reached: raise maxTokens`] : []),
    ...callWarnings,
    ...(itemErrors ? [`${itemErrors.length} of ${items} items failed and were left out`] : []),
  ];
};

export const startNode = (node: NodeState, now: number): void => {
  node.status = "processing";
  node.startedAt = now;
};

export const completeNode = (node: NodeState, now: number): void => {
  node.status = "completed";
  node.itemsDone = node.items;
  node.durationMs = now - (node.startedAt ?? now);
  node.warnings = [...node.warnings, ...endWarnings(node)];
};

export const failNode = (node: NodeState, error: RunError, now: number): void => {
  node.status = "failed";
  node.error = error;
  node.durationMs = now - (node.startedAt ?? now);
};

/** Marks the nodes of a skipped turn that planning evaluated as skipped. @param turn id of the node at the end of the turn */
export const skipEvaluated = (nodes: readonly NodeState[], turn: string): void => {
  for (const node of nodes) if (node.status === "completed" && node.id.startsWith(innerId(turn, ""))) node.status = "skipped";
};

/** Marks nodes that never ran as skipped. */
export const skipPending = (nodes: readonly NodeState[]): NodeState[] =>
  nodes.map((node) => (node.status === "pending" ? { ...node, status: "skipped" } : node));

/** Ends the nodes of a run that stops: nodes that never ran are skipped, running nodes are cancelled. */
export const stopNodes = (nodes: readonly NodeState[], now: number): void => {
  for (const node of nodes) {
    if (node.status === "pending") node.status = "skipped";
    if (node.status !== "processing") continue;
    node.status = "cancelled";
    node.cancelReport ??= "stopped";
    node.durationMs = now - (node.startedAt ?? now);
  }
};

/** Routes values after switch nodes have decided. */

type Sources = Readonly<Record<string, readonly Source[]>>;

export const createBranches = (statusOf: (nodeId: string) => NodeStatus) => {
  /** Output ports with a value, for nodes with several ports. */
  const open = new Map<string, ReadonlySet<string>>();

  /** True if the source provides a value. Its node must be done. */
  const carries = (source: Source): boolean => {
    if (!("node" in source)) return true;
    return statusOf(source.node) !== "skipped" && (open.get(source.node)?.has(source.port) ?? true);
  };

  /** Returns the sources that provide a value. Ports without a value are left out. */
  const carrying = (sources: Sources): Record<string, Source[]> =>
    Object.fromEntries(
      Object.entries(sources).flatMap(([port, all]) => {
        const some = all.filter(carries);
        return some.length > 0 ? [[port, some]] : [];
      }),
    );

  return {
    carrying,
    /** Limits a node's output to some of its ports. */
    take: (nodeId: string, ports: readonly string[]): void => void open.set(nodeId, new Set(ports)),
    /**
     * Returns a step without the sources that have no value. Its dependencies must be done.
     * @returns undefined if one of the step's connected ports gets no value, or if its loop has ended, so that the step is skipped; a
     *   result step and the end of a turn continue without that port
     */
    reached: (step: PlanStep): PlanStep | undefined => {
      if (step.gate !== undefined && !carries({ node: step.gate, port: GOES_ON_PORT })) return undefined;
      if (Object.values(step.sources).every((all) => all.every(carries))) return step;
      const sources = carrying(step.sources);
      const ports = Object.keys(sources);
      if (ports.length === Object.keys(step.sources).length) return { ...step, sources };
      if (!allowsMissing(step.type, step.literals)) return undefined;
      if (makesResult(step.type)) open.set(step.id, new Set(ports));
      return { ...step, sources };
    },
  };
};

/** Adds the tokens of a call to its node. */
export const addTokens = (node: NodeState, used: TokenUsage): void => {
  const { inputTokens = 0, outputTokens = 0 } = node.usage ?? {};
  node.usage = { inputTokens: inputTokens + used.inputTokens, outputTokens: outputTokens + used.outputTokens };
};

/** Adds the warnings of a call to its node, each once. */
export const addWarnings = (node: NodeState, warnings: readonly string[]): void => {
  if (warnings.length === 0) return;
  node.callWarnings = [...new Set([...(node.callWarnings ?? []), ...warnings])].slice(0, MOST_CALL_WARNINGS);
};

/** Records the result of stopping a call if it is the worst of its node. */
export const keepWorstReport = (node: NodeState, report: CancelReport): void => {
  const worse = CANCEL_REPORTS.indexOf(report) > CANCEL_REPORTS.indexOf(node.cancelReport ?? "stopped");
  if (worse || node.cancelReport === null) node.cancelReport = report;
};
