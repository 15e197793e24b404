import type { BudgetUse } from "@nodeloom/kernel";
import { createPlanTask, type PlanTaskOptions } from "./plan-task";
import type { PlanAnswer, Planner, PlanTask, TaskGraph } from "./protocol";

/**
 * What is planned beside other requests, in a few milliseconds at most: characters of a graph and of inputs, and numbers of models and
 * files.
 */
const BRIEF = { graph: 4 * 1024, inputs: 2 * 1024, models: 8, files: 16 } as const;
/** What it may use up of a run's bounds. */
const BOUNDS: Readonly<BudgetUse> = { valueBytes: 64 * 1024, calls: 100, work: 2_000 };
/** Of the graphs that are kept for it. */
const CACHED_CHARS = 1024 * 1024;

/** A JSON schema has patterns, which are compiled when a graph is checked; its name may be written with escapes. */
const MAY_COMPILE = /"schema"|\\u/;

/** Whether a saved graph is short and nothing in it has to be compiled. */
export const isBrief = ({ nodesJson, edgesJson }: NonNullable<TaskGraph["texts"]>): boolean =>
  nodesJson.length + edgesJson.length <= BRIEF.graph && !MAY_COMPILE.test(nodesJson);

/** Only runs take turns before they are planned: a plan for a quote waits for its user's turn at a thread. */
const isBriefTask = ({ target, inputsJson, models, media, data = [], standIns = [], storesNothing = false }: PlanTask): boolean =>
  !storesNothing &&
  ("model" in target || target.graph.isBrief) &&
  inputsJson.length <= BRIEF.inputs &&
  (models?.length ?? 0) <= BRIEF.models &&
  media.length <= BRIEF.files &&
  data.length + standIns.length === 0;

/**
 * Plans what is brief at once, and leaves the rest to threads. What can't be planned so may only need more than it was given here:
 * a thread says why, or fails of it.
 */
export const createBriefPlanner = (threads: Planner, options: Pick<PlanTaskOptions, "addresses"> = {}): Planner => {
  const planNow = createPlanTask({ ...options, bounds: BOUNDS, cachedChars: CACHED_CHARS });
  const plannedNow = (task: PlanTask): PlanAnswer | undefined => {
    try {
      const answer = planNow(task);
      return answer.answer === "error" ? undefined : answer;
    } catch {
      return undefined;
    }
  };
  return async (task, runner) => (isBriefTask(task) ? plannedNow(task) : undefined) ?? threads(task, runner);
};
