/** State of a graph while it runs: values, nodes, submitted calls and the end of the run. */
import {
  APPROVED_PORT,
  BindError,
  bindItems,
  collect,
  createReporter,
  dependencies,
  evaluateStep,
  GRAPH_BOUNDS,
  inPlaces,
  makesTurns,
  nodeName,
  outletsOf,
  outputPort,
  REJECTED_PORT,
  routeOf,
  withSharedTexts,
  type Bound,
  type Outputs,
  type PlanStep,
  type RunBudget,
  type RunPlan,
} from "@nodeloom/kernel/graph";
import {
  addTokens,
  addWarnings,
  completeNode,
  createBranches,
  failNode,
  initialNodes,
  keepWorstReport,
  resultNodes,
  skipEvaluated,
  startNode,
  stopNodes,
} from "./nodes";
import type { CallContext, CancelReport, CompletedCall, HeldItem, NodeState, RunEnd, RunError, TokenUsage } from "./types";
import { createInputs, createValues, resultOf } from "./values";

export class GraphRun {
  readonly nodes: NodeState[];
  readonly completed: CompletedCall[] = [];
  /** Keys of submitted calls whose outcome isn't known. A cancelled run is charged for them. */
  readonly submitted = new Set<string>();
  /** Holds in addition to the run's first hold. */
  readonly extended: HeldItem[] = [];
  /** Fallback models that were called. */
  private readonly usedAlternatives = new Set<string>();
  requestId: string | null = null;
  private readonly values: ReturnType<typeof createValues>;
  private readonly dependencies = new Map<string, readonly string[]>();
  readonly inputs: ReturnType<typeof createInputs>;
  private readonly budget: RunBudget;
  private readonly index: Map<string, number>;
  private readonly report = createReporter();
  private readonly branches = createBranches((id) => this.node(id).status);
  private readonly plan: RunPlan;

  constructor(travelled: RunPlan) {
    const plan = withSharedTexts(travelled);
    this.plan = plan;
    this.nodes = initialNodes(plan);
    this.index = new Map(this.nodes.map((node, position) => [node.id, position]));
    this.values = createValues(plan);
    this.inputs = createInputs(plan.used, { ...GRAPH_BOUNDS, calls: plan.maxCalls ?? GRAPH_BOUNDS.calls });
    this.budget = this.inputs.budget;
    for (const step of plan.steps) this.dependencies.set(step.id, dependencies(step));
  }

  readonly outputs: Outputs = (nodeId, port) => this.values.get(nodeId, port);

  indexOf(nodeId: string): number {
    return this.index.get(nodeId)!;
  }

  node(nodeId: string): NodeState {
    return this.nodes[this.indexOf(nodeId)]!;
  }

  /**
   * Returns the steps to start: steps that haven't started and whose dependencies are done. Sources without a value are left out. A step
   * without any value is skipped, which also completes it.
   */
  readyAfter(doneIds: Set<string>, started: ReadonlySet<string>): PlanStep[] {
    const isReady = ({ id }: PlanStep): boolean =>
      !started.has(id) && !doneIds.has(id) && this.dependencies.get(id)!.every((needed) => doneIds.has(needed));
    // Iterate in dependency order, because a skipped step can make later steps ready.
    return this.plan.steps.flatMap((step) => {
      if (!isReady(step)) return [];
      const reached = this.branches.reached(step);
      if (!reached) this.skip(step, doneIds);
      return reached ?? [];
    });
  }

  private skip({ id, type }: PlanStep, doneIds: Set<string>): void {
    this.node(id).status = "skipped";
    if (makesTurns(type)) skipEvaluated(this.nodes, id);
    this.releaseInputs(id);
    doneIds.add(id);
  }

  start(step: PlanStep, now: number): void {
    startNode(this.node(step.id), now);
  }

  /** Binds the calls of a started step to its inputs. */
  bind(step: PlanStep): Bound {
    const bound = bindItems(step, this.outputs, this.budget);
    this.node(step.id).items = bound.items.length;
    return bound;
  }

  /** Counts the calls of a started step without fan-out. @throws BindError */
  countCalls(nodeId: string, calls: number): void {
    this.budget.calls(calls);
    this.node(nodeId).items = calls;
  }

  countRepair(): void {
    this.budget.calls(1);
  }

  callCompleted(
    { executionId, nodeId, key, alternative }: Pick<CallContext, "executionId" | "nodeId" | "key" | "alternative">,
    costMicroUsd: number,
  ): void {
    const own = key.slice(executionId.length + 1);
    if (alternative && alternative.place > 0) this.usedAlternatives.add(alternative.model);
    this.completed.push({ key: own, nodeId, costMicroUsd });
    this.submitted.delete(own);
  }

  itemDone(nodeId: string): void {
    this.node(nodeId).itemsDone += 1;
  }

  tokensUsed(nodeId: string, used: TokenUsage): void {
    addTokens(this.node(nodeId), used);
  }

  textCut(nodeId: string): void {
    this.node(nodeId).cutTexts = (this.node(nodeId).cutTexts ?? 0) + 1;
  }

  callWarned(nodeId: string, warnings: readonly string[]): void {
    addWarnings(this.node(nodeId), warnings);
  }

  /** Records a failed item that its node leaves out of the result. */
  itemFailed(nodeId: string, item: number, error: RunError): void {
    this.itemDone(nodeId);
    const node = this.node(nodeId);
    node.itemErrors = [...(node.itemErrors ?? []), { item, error }];
  }

  /** Records that a fallback is called. The node then shows the request id of that call. */
  fellBack({ nodeId, item, firstItem = 0 }: Pick<CallContext, "nodeId" | "item" | "firstItem">): void {
    if (item === firstItem) this.node(nodeId).requestId = null;
  }

  evaluate(step: PlanStep): void {
    const bound = this.bind(step);
    const { items, mapped } = bound;
    const outlets = outletsOf(step, items[0] ?? {}, this.budget);
    if (outlets) return this.leave(step, outlets.values, outlets.carrying);
    const values = inPlaces(
      items.map((item) => evaluateStep(step, item, this.budget)),
      bound,
    );
    const route = routeOf(step, items[0] ?? {}, this.budget);
    const port = route ?? outputPort(step.type);
    this.leave(step, { [port]: collect(values, mapped) }, route === undefined ? undefined : [port]);
  }

  /** Returns the value of a step with one item. @throws BindError */
  madeOf(step: PlanStep): unknown {
    const [item = {}] = this.bind(step).items;
    return evaluateStep(step, item, this.budget);
  }

  /** Sends a value through the port that a person chose. @throws BindError */
  decide(step: PlanStep, isApproved: boolean, { value }: { value: unknown }): void {
    const port = isApproved ? APPROVED_PORT : REJECTED_PORT;
    this.leave(step, { [port]: this.budget.value(value) }, [port]);
  }

  /** @param carrying ports that pass their value on; the node's other ports get none. By default the node has one port. */
  private leave({ id }: PlanStep, values: Readonly<Record<string, unknown>>, carrying?: readonly string[]): void {
    if (carrying) this.branches.take(id, carrying);
    if (!this.hidesOutputs) Object.assign(this.node(id), this.report(values));
    for (const port of carrying ?? Object.keys(values)) if (Object.hasOwn(values, port)) this.values.keep(id, port, values[port]);
  }

  get hidesOutputs(): boolean {
    return this.plan.hidesOutputs === true;
  }

  /**
   * Stores the output of a call for the steps that read it, and counts its size. @throws BindError if the run's values exceed their limit
   */
  give(nodeId: string, port: string, value: unknown): void {
    this.values.keep(nodeId, port, this.budget.value(value));
  }

  complete(nodeId: string, now: number): void {
    completeNode(this.node(nodeId), now);
    this.releaseInputs(nodeId);
  }

  private releaseInputs(nodeId: string): void {
    for (const id of this.dependencies.get(nodeId) ?? []) this.values.release(id);
  }

  fail(nodeId: string, error: RunError, now: number): void {
    failNode(this.node(nodeId), error, now);
  }

  /** Records the result of stopping a call. A node shows the worst of its results. */
  stopped(nodeId: string, report: CancelReport): void {
    keepWorstReport(this.node(nodeId), report);
  }

  /** Decides how the run ended. @param failure the reason, if it failed */
  end(failure: RunError | undefined): RunEnd {
    const isComplete = failure === undefined && this.plan.steps.every(({ id }) => ["completed", "skipped"].includes(this.node(id).status));
    const outcome = isComplete ? this.result(Date.now()) : undefined;
    if (outcome && "error" in outcome) return this.end(outcome.error);
    stopNodes(this.nodes, Date.now());
    const { requestId, nodes, completed, submitted, extended } = this;
    const status = failure ? "failed" : isComplete ? "completed" : "cancelled";
    const used = this.usedAlternatives.size > 0 ? { usedAlternatives: [...this.usedAlternatives] } : {};
    const outcomes = { status, result: outcome?.result ?? null, error: failure ?? null, ...used } as const;
    return { ...outcomes, requestId, nodes, completed, underWay: [...submitted], extended };
  }

  /** Returns the result, or an error if it is too large. */
  private result(now: number): { result: Record<string, unknown> } | { error: RunError } {
    const [nodeId = ""] = this.plan.outputNodes;
    try {
      const result = resultOf(this.branches.carrying(this.plan.output), this.outputs, this.budget);
      for (const id of resultNodes(this.plan)) Object.assign(this.node(id), { status: "completed", startedAt: now, durationMs: 0 });
      return { result };
    } catch (error) {
      if (!(error instanceof BindError)) throw error;
      const message = `node ${nodeName(nodeId, this.node(nodeId).label)}: ${error.message}`;
      const problem: RunError = { code: "EXECUTION_FAILED", message, fault: "input", nodeId };
      this.fail(nodeId, problem, now);
      return { error: problem };
    }
  }
}
