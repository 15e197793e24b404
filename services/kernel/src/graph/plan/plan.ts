import { GRAPH_BOUNDS } from "../bounds";
import { createBudget, type BudgetUse } from "../budget";
import { checkSettings } from "./check";
import { isKnown, joined } from "./abstract";
import { anyInput, kindOf, makesFiles } from "../kinds";
import { createReporter } from "../values/reported";
import { keepLivingEdges, noteBranches } from "./branches";
import { knownPlan } from "./known-outputs";
import { maxCalls } from "./max-items";
import { misspeltIn, misspeltSettings } from "./misspelt";
import { abstractSources, planWithin, source, warn, type ModelTerms, type Planner, type PlanRequest } from "./planner";
import { NOTHING_PLANNED, stepModels, type EvaluatedNode, type NodePlan, type PlanStep, type RunPlan, type Source } from "./plan-types";
import type { JsonSchema } from "../prices/price";
import { resultFilesStep, type OutputPort } from "./result-files";
import { finding, type Finding, type GraphIssue, type NodeIssue } from "../../issues";
import { labelOf, type Graph, type GraphNode } from "../types";
import { withoutBypassed } from "../wiring/bypass";
import { checkStructure } from "../wiring/validate";

/** Planning folds over the nodes in dependency order and collects steps, outputs, issues and warnings. */

const labelsOf = (nodes: readonly GraphNode[]): Pick<RunPlan, "labels"> => {
  const labels = nodes.flatMap((node) => {
    const label = labelOf(node);
    return label === undefined ? [] : [[node.id, label]];
  });
  return labels.length === 0 ? {} : { labels: Object.fromEntries(labels) as Record<string, string> };
};

/** A step that copies a result's external files to media storage. */
const planResultFiles = (planner: Planner, nodeId: string, ports: readonly OutputPort[]): PlanStep | undefined => {
  const { storage } = planner.request;
  if (storage === undefined) return undefined;
  const isMaker = (id: string): boolean => planner.wiring.order.some((node) => node.id === id && makesFiles(node.type));
  const step = resultFilesStep(nodeId, ports, { storage, makesFiles: isMaker });
  if (step) planner.budget.calls(step.maxItems);
  return step;
};

/**
 * Sources of the response-output ports. Several response-output nodes form one result.
 * @param steps receives a step for each node with external files
 */
const planOutput = (planner: Planner, nodes: readonly GraphNode[], steps: PlanStep[]): Record<string, Source[]> => {
  const output = new Map<string, Source[]>();
  nodes.every((node) =>
    planWithin(planner, node.id, () => {
      const ports = [...(planner.wiring.inputs.get(node.id) ?? [])].map(([port, edges]) => {
        const to = { id: node.id, port, type: anyInput(node, port)?.type ?? "any" };
        const files = joined(abstractSources(planner, node, port)).most;
        return { port, sources: edges.map((edge) => source(planner, edge, to)), files };
      });
      const step = planResultFiles(planner, node.id, ports);
      if (step) steps.push(step);
      for (const { port, sources } of ports) {
        const reusedSources = step && Object.hasOwn(step.sources, port) ? [{ node: node.id, port }] : sources;
        output.set(port, [...(output.get(port) ?? []), ...reusedSources]);
      }
    }),
  );
  return Object.fromEntries(output);
};

const messagesOf = (findings: readonly Finding[] = []): string[] => findings.map(({ message }) => message);

/** Issues in node order without duplicates, up to a bound. Issues of the whole graph come first. */
const inOrder = ({ nodes }: Graph, all: readonly GraphIssue[]): GraphIssue[] => {
  const position = new Map(nodes.map((node, index) => [node.id, index]));
  const originals = new Map(nodes.flatMap(({ id, original }) => (original === undefined ? [] : [[id, original]])));
  const keys = new Set(all.map(({ nodeId, code }) => `${nodeId ?? ""}\n${code}`));
  // A node that a loop repeats has the same problems in each turn.
  const issues = all.filter(({ nodeId, code }) => !keys.has(`${originals.get(nodeId ?? "") ?? "\n"}\n${code}`));
  const at = ({ nodeId }: GraphIssue): number => (nodeId === null ? -1 : (position.get(nodeId) ?? -1));
  const distinct = new Map(issues.map((issue) => [`${issue.nodeId ?? ""}\n${issue.message}`, issue]));
  return [...distinct.values()].sort((a, b) => at(a) - at(b)).slice(0, GRAPH_BOUNDS.issues);
};

/** Misspelt settings of nodes that can't run. A missing setting may be present under a wrong name. */
const misspeltCauses = (
  { nodes }: Graph,
  issues: readonly GraphIssue[],
  schema: (node: GraphNode) => JsonSchema | undefined,
): GraphIssue[] => {
  const wrong = new Set(issues.map(({ nodeId }) => nodeId));
  return misspeltIn(
    nodes.filter(({ id }) => wrong.has(id)),
    schema,
  );
};

const plannedModels = ({ models }: PlanRequest, steps: readonly PlanStep[]): RunPlan["models"] => {
  const used = new Set(steps.flatMap(stepModels));
  return Object.fromEntries(
    [...used].map((name) => {
      const { providerKind, modality, price } = models.get(name)!;
      return [name, { providerKind, modality, price }];
    }),
  );
};

/**
 * `warnings` are the plan's warnings with their codes. `used` is how much of the run's bounds planning used. `dataUrls` are data URLs that
 * must be stored as files first. `prices` are those of the models in `PlanRequest.others`.
 */
export type PlanResult = { used: Readonly<BudgetUse>; dataUrls: string[]; prices: Planner["prices"] } & (
  | { plan: RunPlan; issues: []; warnings: ReadonlyMap<string, readonly Finding[]> }
  | { plan: undefined; issues: GraphIssue[]; unknownMedia: string[] }
);

/** The kind's own input schema, or the schema of the node's model. */
export const nodeSchema = (node: GraphNode, models: ReadonlyMap<string, { inputSchema: JsonSchema }>): JsonSchema | undefined => {
  const kind = kindOf(node.type);
  if (kind?.schema) return kind.schema(node);
  const { model } = node.data;
  return typeof model === "string" ? models.get(model)?.inputSchema : undefined;
};

/** Members of the model's result; undefined if the model is unknown. */
export const nodeResults = (
  { data: { model } }: GraphNode,
  models: ReadonlyMap<string, Pick<ModelTerms, "outputs">>,
): readonly string[] | undefined => (typeof model === "string" ? models.get(model)?.outputs : undefined);

const planNode = (planner: Planner, node: GraphNode): NodePlan => {
  const kind = kindOf(node.type);
  if (!kind) return NOTHING_PLANNED;
  const reusedPlan = knownPlan(planner, node);
  if (reusedPlan) return reusedPlan;
  const misspelt = misspeltSettings(kind, node, nodeSchema(node, planner.request.models), (count) => planner.budget.work(count));
  for (const nodeFinding of misspelt) warn(planner, node.id, nodeFinding);
  const planned = noteBranches(planner, node, kind.plan?.(planner, node) ?? NOTHING_PLANNED);
  if (planned.step || planned.isEvaluated) planner.outputs.set(node.id, planned.outputs);
  return planned;
};

interface FoldedPlan {
  steps: PlanStep[];
  evaluated: EvaluatedNode[];
  skipped: NonNullable<RunPlan["skipped"]>;
}

/** Outputs of an evaluated node by port, except inputs that weren't set. */
const knownValues = (outputs: NodePlan["outputs"]): Record<string, unknown> =>
  Object.fromEntries([...outputs].flatMap(([port, of]) => (isKnown(of) && of.value !== undefined ? [[port, of.value]] : [])));

/** Returns a plan whose runs don't report node values. */
export const withHiddenOutputs = (plan: RunPlan): RunPlan => ({
  ...plan,
  evaluated: plan.evaluated.map(({ id, type, warnings }) => ({ id, type, warnings })),
  hidesOutputs: true,
});

/** Returns a plan whose runs reveal only the graph's schema, without node values, labels or warnings. */
export const schemaOnlyPlan = (plan: RunPlan): RunPlan => {
  const { labels: _, ...rest } = plan;
  const evaluated = plan.evaluated.map(({ id, type }) => ({ id, type, warnings: [] }));
  return { ...rest, evaluated, warnings: {}, hidesOutputs: true, graphHidden: true };
};

/** Plans nodes in order. Returns false if a bound of the run is exceeded; the remaining nodes stay unplanned. */
const planNodes = (planner: Planner, nodes: readonly GraphNode[], { steps, evaluated, skipped }: FoldedPlan): boolean => {
  const report = createReporter();
  return nodes.every((node) =>
    planWithin(planner, node.id, () => {
      const type = node.type as PlanStep["type"];
      if (!keepLivingEdges(planner, node)) {
        skipped.push({ id: node.id, type });
        return;
      }
      const { step, isEvaluated, outputs } = planNode(planner, node);
      if (step) steps.push(step);
      if (isEvaluated)
        evaluated.push({ id: node.id, type, warnings: messagesOf(planner.warnings.get(node.id)), ...report(knownValues(outputs)) });
    }),
  );
};

/** Warns about an empty result at the response-output node, or at the last node if the graph has none. */
const warnOfNoResult = (planner: Planner, outputNodes: readonly GraphNode[]): void => {
  const { order, inputs } = planner.wiring;
  const [output] = outputNodes;
  const last = output ?? order.at(-1);
  if (!last || outputNodes.some(({ id }) => (inputs.get(id)?.size ?? 0) > 0)) return;
  // Listed first among its node's warnings, and not counted against the bound on warnings.
  planner.warnings.set(last.id, [finding(output ? "RESULT_NOT_CONNECTED" : "NO_RESULT")]);
};

/** Warns about nodes that get no value because of a bypassed node. Returns false if the graph has too many warnings. */
const warnOfBypassed = (planner: Planner, warnings: readonly NodeIssue[]): boolean =>
  warnings.every(({ nodeId, ...nodeFinding }) => planWithin(planner, nodeId, () => warn(planner, nodeId, nodeFinding)));

/**
 * Plans a run of a graph. Pure nodes with known inputs are evaluated here, once; all others run later.
 * @param bounds how much planning can use; a run's bounds by default
 * @returns the plan, or all issues. `unknownMedia` lists missing files that the caller must look up.
 */
export const planRun = (whole: PlanRequest, bounds?: Readonly<BudgetUse>): PlanResult => {
  const { graph, warnings: bypassed } = withoutBypassed(whole.graph);
  const calls = maxCalls(graph);
  const runBounds = bounds ?? { ...GRAPH_BOUNDS, calls };
  const request: PlanRequest = { ...whole, graph };
  const schema = (node: GraphNode): JsonSchema | undefined => nodeSchema(node, request.models);
  const { wiring, issues } = checkStructure(request.graph, schema, (node) => nodeResults(node, request.models));
  const repeated = new Set(graph.nodes.flatMap(({ id, original }) => (original === undefined ? [] : [id])));
  const planner: Planner = {
    request,
    wiring,
    outputs: new Map(),
    warnings: new Map([...(request.warnings ?? [])].flatMap(([id, warnings]) => (repeated.has(id) ? [] : [[id, [...warnings]]]))),
    issues: [...request.graph.issues, ...issues, ...checkSettings(request.graph, schema)],
    skipped: new Set(),
    emptyPorts: new Map(),
    mayBeEmpty: new Set(),
    conditional: new Set(),
    running: new Set(),
    repeated,
    unknownMedia: new Set(),
    dataUrls: new Set(),
    prices: new Map(),
    pricing: createBudget({}, runBounds),
    budget: createBudget({}, runBounds),
    planBytes: 0,
    triedBytes: 0,
    warned: 0,
  };
  const folded: FoldedPlan = { steps: [], evaluated: [], skipped: [] };
  const outputNodes = wiring.order.filter((node) => kindOf(node.type)?.isResult);
  if (!request.isPart) warnOfNoResult(planner, outputNodes);
  // Nodes on a cycle have no order, but their issues are still reported.
  const isWithin = warnOfBypassed(planner, bypassed) && planNodes(planner, [...wiring.order, ...wiring.stuck], folded);
  const output = isWithin ? planOutput(planner, outputNodes, folded.steps) : {};
  const { prices } = planner;
  const { used } = planner.budget;
  const dataUrls = [...planner.dataUrls];
  if (planner.issues.length > 0) {
    const issues = inOrder(request.graph, [...planner.issues, ...misspeltCauses(request.graph, planner.issues, schema)]);
    return { used, dataUrls, prices, plan: undefined, issues, unknownMedia: [...planner.unknownMedia] };
  }
  return {
    used,
    dataUrls,
    prices,
    plan: {
      steps: folded.steps,
      evaluated: folded.evaluated,
      ...(folded.skipped.length > 0 ? { skipped: folded.skipped } : {}),
      warnings: Object.fromEntries([...planner.warnings].map(([id, findings]) => [id, messagesOf(findings)])),
      models: plannedModels(request, folded.steps),
      ...labelsOf(wiring.order),
      output,
      outputNodes: outputNodes.map((node) => node.id),
      markupPermille: request.markupPermille,
      ...(request.storage === undefined ? {} : { storage: request.storage }),
      ...(calls === GRAPH_BOUNDS.calls ? {} : { maxCalls: calls }),
      used: { valueBytes: used.valueBytes - planner.triedBytes, calls: 0, work: 0 },
    },
    warnings: planner.warnings,
    issues: [],
  };
};
