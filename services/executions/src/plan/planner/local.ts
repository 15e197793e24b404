import { DomainError, modelNames, readGraph, shareTexts, workflowReferences, type BudgetUse } from "@nodeloom/kernel";
import { createAddressRules, type AddressRulesOptions } from "@nodeloom/platform";
import { LRUCache } from "lru-cache";
import { refusalOf } from "../../run/refusals";
import { planDirectRun } from "./direct-run";
import type { PlanRules } from "./finish";
import type { NeedsAnswer, PlanAnswer, PlanTask, TaskGraph } from "./protocol";
import type { CachedGraph } from "./read-graph";
import { partToRun, planWorkflowRun } from "./workflow-run";

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
