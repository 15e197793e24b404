import {
  bindItems,
  buildResult,
  collect,
  dependencies,
  pureValue,
  type Bound,
  type Outputs,
  type PlanStep,
  type RunPlan,
} from "@nodeloom/kernel/graph";
import {
  CANCEL_REPORTS,
  type CancelReport,
  type CompletedCall,
  type NodeState,
  type NodeStatus,
  type RunError,
} from "../../contract/run-types";

const newNode = (
  { labels = {} }: RunPlan,
  { id, type }: { id: string; type: string },
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
});

const warningsOf = ({ warnings }: RunPlan, id: string): string[] => (Object.hasOwn(warnings, id) ? warnings[id]! : []);

/** Every node of a run before it starts: what planning evaluated is done, the rest is pending. */
export const initialNodes = (plan: RunPlan): NodeState[] => [
  ...plan.evaluated.map((node) => newNode(plan, node, "completed", node.warnings, 0)),
  ...plan.steps.map((step) => newNode(plan, step, "pending", warningsOf(plan, step.id), step.maxItems)),
  ...plan.outputNodes.map((id) => newNode(plan, { id, type: "response-output" }, "pending", [], 0)),
];

/** The memory of one run: what each node gave, how it stands, what was paid for. */
export class GraphRun {
  readonly nodes: NodeState[];
  readonly completed: CompletedCall[] = [];
  requestId: string | null = null;
  private readonly values = new Map<string, Map<string, unknown>>();
  private readonly index: Map<string, number>;

  constructor(private readonly plan: RunPlan) {
    this.nodes = initialNodes(plan);
    this.index = new Map(this.nodes.map((node, position) => [node.id, position]));
  }

  readonly outputs: Outputs = (nodeId, port) => this.values.get(nodeId)?.get(port);

  indexOf(nodeId: string): number {
    return this.index.get(nodeId)!;
  }

  node(nodeId: string): NodeState {
    return this.nodes[this.indexOf(nodeId)]!;
  }

  /** Steps that wait for nothing but what is given. */
  readyAfter(done: ReadonlySet<string>, started: ReadonlySet<string>): PlanStep[] {
    return this.plan.steps.filter((step) => !started.has(step.id) && dependencies(step).every((id) => done.has(id)));
  }

  start(step: PlanStep, now: number): void {
    const node = this.node(step.id);
    node.status = "processing";
    node.startedAt = now;
  }

  /** The calls a started step makes, now that its inputs are there. */
  bind(step: PlanStep): Bound {
    const bound = bindItems(step, this.outputs);
    this.node(step.id).items = bound.items.length;
    return bound;
  }

  /** One more of a step's calls is done. */
  itemDone(nodeId: string): void {
    this.node(nodeId).itemsDone += 1;
  }

  /** Evaluates a pure step. */
  evaluate(step: PlanStep): void {
    const { items, mapped } = this.bind(step);
    this.give(
      step.id,
      step.type === "list" ? "items" : "text",
      collect(
        items.map((item) => pureValue(step, item)),
        mapped,
      ),
    );
  }

  give(nodeId: string, port: string, value: unknown): void {
    this.values.set(nodeId, (this.values.get(nodeId) ?? new Map<string, unknown>()).set(port, value));
  }

  complete(nodeId: string, now: number): void {
    const node = this.node(nodeId);
    node.status = "completed";
    node.itemsDone = node.items;
    node.durationMs = now - (node.startedAt ?? now);
  }

  fail(nodeId: string, error: RunError, now: number): void {
    const node = this.node(nodeId);
    node.status = "failed";
    node.error = error;
    node.durationMs = now - (node.startedAt ?? now);
  }

  /** What came of stopping one of a node's calls. The node tells of the one that fared worst. */
  stopped(nodeId: string, report: CancelReport): void {
    const node = this.node(nodeId);
    const worse = CANCEL_REPORTS.indexOf(report) > CANCEL_REPORTS.indexOf(node.cancelReport ?? "stopped");
    if (worse || node.cancelReport === null) node.cancelReport = report;
  }

  /** What never ran is skipped; what still ran is cancelled. */
  stopRest(now: number): void {
    for (const node of this.nodes) {
      if (node.status === "pending") node.status = "skipped";
      if (node.status !== "processing") continue;
      node.status = "cancelled";
      node.cancelReport ??= "stopped";
      node.durationMs = now - (node.startedAt ?? now);
    }
  }

  /** True when every step is done. */
  get isComplete(): boolean {
    return this.plan.steps.every((step) => this.node(step.id).status === "completed");
  }

  result(now: number): Record<string, unknown> {
    for (const id of this.plan.outputNodes) Object.assign(this.node(id), { status: "completed", startedAt: now, durationMs: 0 });
    return buildResult(this.plan.output, this.outputs);
  }
}
