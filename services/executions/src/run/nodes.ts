import { makesResult, type PlanStep, type Reported, RESULT_TYPE, type RunPlan, type Source } from "@nodeloom/kernel/graph";
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

/** Where values of a run flow once its switches have decided. */

type Sources = Readonly<Record<string, readonly Source[]>>;

export const createBranches = (statusOf: (nodeId: string) => NodeStatus) => {
  /** The output ports that carry something, of nodes that have others, too. */
  const open = new Map<string, ReadonlySet<string>>();

  /** True if something flows from a source, whose node is done. */
  const carries = (source: Source): boolean => {
    if (!("node" in source)) return true;
    return statusOf(source.node) !== "skipped" && (open.get(source.node)?.has(source.port) ?? true);
  };

  /** The sources that carry something; ports without any are left out. */
  const carrying = (sources: Sources): Record<string, Source[]> =>
    Object.fromEntries(
      Object.entries(sources).flatMap(([port, all]) => {
        const some = all.filter(carries);
        return some.length > 0 ? [[port, some]] : [];
      }),
    );

  return {
    carrying,
    /** Of a node whose value leaves by this output port alone. */
    take: (nodeId: string, port: string): void => void open.set(nodeId, new Set([port])),
    /**
     * A step as it runs, whose dependencies are done.
     * @returns undefined when it is skipped: nothing reaches a port that is connected. A step of the result goes without that port.
     */
    reached: (step: PlanStep): PlanStep | undefined => {
      if (Object.values(step.sources).every((all) => all.every(carries))) return step;
      const sources = carrying(step.sources);
      const ports = Object.keys(sources);
      if (ports.length === Object.keys(step.sources).length) return { ...step, sources };
      if (!makesResult(step.type)) return undefined;
      open.set(step.id, new Set(ports));
      return { ...step, sources };
    },
  };
};
