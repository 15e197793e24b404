import { type BudgetUse, DomainError, modelNames, readGraph, shareTexts, workflowReferences } from "@nodeloom/kernel";
import { type AddressRulesOptions, createAddressRules } from "@nodeloom/platform";
import { LRUCache } from "lru-cache";
import { planDirectRun } from "./direct-run";
import type { PlanRules } from "./finish";
import type { CachedGraph } from "./inlining";
import type { NeedsAnswer, PlanAnswer, Planner, PlanTask, TaskGraph } from "./protocol";
import { partToRun, planWorkflowRun } from "./workflow-run";
import { refusalOf } from "../../run/refusals";

/** The planner of one thread. */

/** Of the cached graphs' JSON texts; their objects take a few times that. */
const CACHED_GRAPH_CHARS = 8 * 1024 * 1024;

export interface LocalPlannerOptions {
  /** Which addresses users may name; its `own` is what the addresses of our files begin with. */
  addresses?: AddressRulesOptions | undefined;
  /** What one plan may use up; a run's bounds unless given. */
  bounds?: Readonly<BudgetUse>;
  /** Of the graphs that are kept. */
  cachedChars?: number;
}

export interface LocalPlanner {
  needs(graph: TaskGraph): NeedsAnswer;
  plan(task: PlanTask): PlanAnswer;
}

/** What is wrong with inputs or a graph is an answer. */
const answered = <T>(work: () => T): T | Extract<PlanAnswer, { answer: "error" }> => {
  try {
    return work();
  } catch (error) {
    if (!(error instanceof DomainError)) throw error;
    return { answer: "error", error: refusalOf(error) };
  }
};

/** Plans in the thread that it is called in, from plain values: nothing is looked up. Graphs are kept. */
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

/** Plans small runs at once, and hands the others to threads. */

/**
 * What is planned on the main thread, in a few milliseconds at most: characters of a graph and of inputs, and numbers of
 * models and files.
 */
const SMALL = { graph: 4 * 1024, inputs: 2 * 1024, models: 8, files: 16 } as const;
/** What it may use up of a run's bounds. */
const BOUNDS: Readonly<BudgetUse> = { valueBytes: 64 * 1024, calls: 100, work: 2_000 };
/** Of the graphs that are kept for it. */
const CACHED_CHARS = 1024 * 1024;

/** A JSON schema has patterns, which are compiled when a graph is checked; its name may be written with escapes. */
const MAY_COMPILE = /"schema"|\\u/;

/** Whether a graph is short and nothing in it has to be compiled. */
const isSmallGraph = ({ nodesJson, edgesJson }: TaskGraph): boolean =>
  nodesJson.length + edgesJson.length <= SMALL.graph && !MAY_COMPILE.test(nodesJson);

/** Only runs take turns before they are planned: a plan for a quote waits for its user's turn at a thread. */
const isSmallTask = ({ target, inputsJson, models, media, data = [], standIns = [], storesNothing = false, given }: PlanTask): boolean =>
  !storesNothing &&
  given === undefined &&
  ("model" in target || (isSmallGraph(target.graph) && !target.inner)) &&
  inputsJson.length <= SMALL.inputs &&
  models.length <= SMALL.models &&
  media.length <= SMALL.files &&
  data.length + standIns.length === 0;

/** What work answers, unless it is refused or fails: that may be for the bounds here, and a thread tells. */
const unlessRefused = <T extends { answer: string }>(work: () => T): T | undefined => {
  try {
    const answer = work();
    return answer.answer === "error" ? undefined : answer;
  } catch {
    return undefined;
  }
};

/** Plans what is small at once, and leaves the rest to threads. */
export const createSmallFirstPlanner = (threads: Planner, { addresses }: Pick<LocalPlannerOptions, "addresses"> = {}): Planner => {
  const local = createLocalPlanner({ addresses, bounds: BOUNDS, cachedChars: CACHED_CHARS });
  return {
    needs: async (graph, caller) =>
      (isSmallGraph(graph) ? unlessRefused(() => local.needs(graph)) : undefined) ?? threads.needs(graph, caller),
    plan: async (task, caller) => (isSmallTask(task) ? unlessRefused(() => local.plan(task)) : undefined) ?? threads.plan(task, caller),
  };
};
