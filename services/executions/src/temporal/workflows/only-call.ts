import {
  BindError,
  callsHttp,
  GRAPH_BOUNDS,
  makesResult,
  toldOutputs,
  type BudgetUse,
  type PlanStep,
  type RunPlan,
} from "@nodeloom/kernel/graph";
import type { FollowedJob, HttpResult } from "../../contract/activity-types";
import type { CallContext, RunEnd } from "../../contract/run-types";
import { toldResult } from "../../contract/told-result";
import { giveAnswers, giveCall, giveJob, giveResults } from "./given";
import { GraphRun } from "./graph-run";
import { endOf } from "./run-end";

/** Runs that are over with their only call: the process that makes it can tell how they end. */

const makesCalls = ({ model, type }: PlanStep): boolean => model !== undefined || callsHttp(type) || makesResult(type);

/** What may be evaluated beside the calls of other runs: a few milliseconds' worth. A workflow has a thread for more. */
const BRIEF = { valueBytes: 256 * 1024, calls: 1, work: 5_000 } as const;

/** A run's bounds, or what planning used and a little more, whichever is less. */
const smallBounds = (used: BudgetUse): BudgetUse => ({
  valueBytes: Math.min(GRAPH_BOUNDS.valueBytes, used.valueBytes + BRIEF.valueBytes),
  calls: Math.min(GRAPH_BOUNDS.calls, used.calls + BRIEF.calls),
  work: Math.min(GRAPH_BOUNDS.work, used.work + BRIEF.work),
});

/** Whether one step of a run makes calls, and all others are evaluated. */
export const hasOneCaller = ({ steps }: Pick<RunPlan, "steps">): boolean => steps.filter(makesCalls).length === 1;

/** The run tells what its only call gave, which needs no record of its own. */
const give = (run: GraphRun, step: PlanStep, call: CallContext, given: FollowedJob | HttpResult): void => {
  const { items, mapped } = run.bind(step);
  const [item = {}] = items;
  if ("status" in given) {
    run.httpCall(step, item);
    run.itemDone(step.id);
    Object.assign(run.node(step.id), toldOutputs({ status: given.status, body: given.body }));
    return giveAnswers(run, step, [given], mapped);
  }
  run.callInputs(step, item);
  giveJob(run, call, given.job.requestId);
  if (given.result) Object.assign(run.node(step.id), toldResult(given.result));
  const results = given.result ? [giveCall(run, call, given.result)] : [];
  giveResults(run, step, results, false, mapped);
};

/**
 * How a run ends that makes one call.
 * @param given what that gave
 * @returns null where what was given fails a step, or is much: its workflow says how
 */
export const endAfter = (plan: RunPlan, call: CallContext, given: FollowedJob | HttpResult): RunEnd | null => {
  if (!plan.used) return null;
  try {
    const run = new GraphRun(plan, smallBounds(plan.used));
    for (const step of plan.steps) {
      const isCalled = step.id === call.nodeId;
      run.start(step, isCalled ? call.startedAt : Date.now());
      if (isCalled) give(run, step, call, given);
      else run.evaluate(step);
      run.complete(step.id, Date.now());
    }
    return endOf(run, undefined);
  } catch (error) {
    if (error instanceof BindError) return null;
    throw error;
  }
};
