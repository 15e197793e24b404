import type { BudgetUse } from "@nodeloom/kernel";
import { createLocalPlanner, type LocalPlannerOptions } from "./local";
import type { Planner, PlanTask, TaskGraph } from "./protocol";

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
