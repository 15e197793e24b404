import { type BudgetUse, DomainError, modelNames, readGraph, shareTexts, workflowReferences } from "@nodeloom/kernel";
import { type AddressRulesOptions, createAddressRules } from "@nodeloom/platform";
import { LRUCache } from "lru-cache";
import { planDirectRun } from "./direct-run";
import type { PlanRules } from "./finish";
import type { CachedGraph } from "./inlining";
import type { NeedsAnswer, PlanAnswer, Planner, PlanTask, TaskGraph } from "./protocol";
import { partToRun, planWorkflowRun } from "./workflow-run";
import { refusalOf } from "../../run/refusals";

/** Maximum characters of JSON. The parsed objects take several times as much memory. */
const CACHED_GRAPH_CHARS = 8 * 1024 * 1024;

export interface LocalPlannerOptions {
  /** Rules for addresses that users enter. `own` is the address prefix of the platform's own storage. */
  addresses?: AddressRulesOptions | undefined;
  /** Budget of one plan. The default is the budget of a run. */
  bounds?: Readonly<BudgetUse>;
  /** Maximum characters of cached graphs. */
  cachedChars?: number;
}

export interface LocalPlanner {
  needs(graph: TaskGraph): NeedsAnswer;
  plan(task: PlanTask): PlanAnswer;
}

/** Returns problems of inputs or graphs as answers instead of throwing them. */
const answered = <T>(work: () => T): T | Extract<PlanAnswer, { answer: "error" }> => {
  try {
    return work();
  } catch (error) {
    if (!(error instanceof DomainError)) throw error;
    return { answer: "error", error: refusalOf(error) };
  }
};

/** Plans in the calling thread from plain values, without lookups. Graphs are cached. */
export const createLocalPlanner = ({ addresses, bounds, cachedChars = CACHED_GRAPH_CHARS }: LocalPlannerOptions = {}): LocalPlanner => {
  const rules: PlanRules = {
    ...(addresses?.own === undefined ? {} : { storage: addresses.own }),
    addresses: addresses && createAddressRules(addresses),
    bounds,
  };
  const graphs = new LRUCache<string, CachedGraph, TaskGraph>({
    maxSize: cachedChars,
    sizeCalculation: ({ chars }) => chars + 1,
    memoMethod: (_key, _stale, { context: { nodesJson, edgesJson } }) => ({
      graph: readGraph(nodesJson, edgesJson),
      chars: nodesJson.length + edgesJson.length,
    }),
  });
  const read = (graph: TaskGraph): CachedGraph => graphs.memo(graph.key, { context: graph });

  const planned = (task: PlanTask): PlanAnswer => {
    const { target } = task;
    if ("model" in target) return planDirectRun(rules, task);
    const { graph, ...rest } = target;
    return planWorkflowRun(rules, read(graph), { until: graph.until, read, ...rest }, task);
  };

  return {
    needs: (graph) =>
      answered(() => {
        const part = partToRun(read(graph), graph.until);
        return { answer: "needs", models: modelNames(part), workflows: workflowReferences(part) };
      }),
    plan: (task) =>
      answered(() => {
        const answer = planned(task);
        return answer.answer === "plan" ? { ...answer, plan: shareTexts(answer.plan) } : answer;
      }),
  };
};

/** Plans small runs on the main thread, and passes the others to worker threads. */

/**
 * Limits for planning on the main thread, which then takes a few milliseconds at most: characters of graph and inputs, numbers of models
 * and files.
 */
const SMALL = { graph: 4 * 1024, inputs: 2 * 1024, models: 8, files: 16 } as const;
/** The main thread's share of a run's budget. */
const BOUNDS: Readonly<BudgetUse> = { valueBytes: 64 * 1024, calls: 100, work: 2_000 };
/** Maximum characters of cached graphs. */
const CACHED_CHARS = 1024 * 1024;

/** JSON schemas contain patterns, which are compiled when a graph is checked. The key can be written with escapes. */
const MAY_COMPILE = /"schema"|\\u/;

/** True if a graph is short and needs no compilation. */
const isSmallGraph = ({ nodesJson, edgesJson }: TaskGraph): boolean =>
  nodesJson.length + edgesJson.length <= SMALL.graph && !MAY_COMPILE.test(nodesJson);

/** Only runs have taken a turn before planning. A quote waits for its user's turn at a thread. */
const isSmallTask = ({
  target,
  inputsJson,
  models,
  media,
  data = [],
  standIns = [],
  storesNothing = false,
  knownOutputs,
}: PlanTask): boolean =>
  !storesNothing &&
  knownOutputs === undefined &&
  ("model" in target || (isSmallGraph(target.graph) && !target.inner)) &&
  inputsJson.length <= SMALL.inputs &&
  models.length <= SMALL.models &&
  media.length <= SMALL.files &&
  data.length + standIns.length === 0;

/**
 * Returns the answer, unless planning was refused or failed. The limits of the main thread may be the cause, so a worker thread decides.
 */
const unlessRefused = <T extends { answer: string }>(work: () => T): T | undefined => {
  try {
    const answer = work();
    return answer.answer === "error" ? undefined : answer;
  } catch {
    return undefined;
  }
};

export const createSmallFirstPlanner = (threads: Planner, { addresses }: Pick<LocalPlannerOptions, "addresses"> = {}): Planner => {
  const local = createLocalPlanner({ addresses, bounds: BOUNDS, cachedChars: CACHED_CHARS });
  return {
    needs: async (graph, caller) =>
      (isSmallGraph(graph) ? unlessRefused(() => local.needs(graph)) : undefined) ?? threads.needs(graph, caller),
    plan: async (task, caller) => (isSmallTask(task) ? unlessRefused(() => local.plan(task)) : undefined) ?? threads.plan(task, caller),
  };
};
