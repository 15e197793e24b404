import type { BudgetUse } from "@nodeloom/kernel";
import { createPlanTask, type PlanTaskOptions } from "./plan-task";
import type { Planner, PlanTask, TaskGraph } from "./protocol";

/** What is planned beside other requests, in a few milliseconds at most: so many characters of a graph and of inputs, models and files. */
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

const isBriefTask = ({ target, inputsJson, models, media, data = [], standIns = [] }: PlanTask): boolean =>
  ("model" in target || target.graph.isBrief) &&
  inputsJson.length <= BRIEF.inputs &&
  (models?.length ?? 0) <= BRIEF.models &&
  media.length <= BRIEF.files &&
  data.length + standIns.length === 0;

/**
 * Plans what is brief at once, and leaves the rest to threads. What can't be planned so may only need more than it was given here:
 * a thread says why.
 */
export const createPlanner = (threads: Planner, options: Pick<PlanTaskOptions, "addresses"> = {}): Planner => {
  const planNow = createPlanTask({ ...options, bounds: BOUNDS, cachedChars: CACHED_CHARS });
  return (task, runner) => {
    const answer = isBriefTask(task) ? planNow(task) : undefined;
    return answer && answer.answer !== "error" ? Promise.resolve(answer) : threads(task, runner);
  };
};
