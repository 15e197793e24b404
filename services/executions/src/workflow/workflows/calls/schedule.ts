import { ABSENT, type Bound, BoundPassed, isAbsent, placeOf, type PlanStep } from "@nodeloom/kernel/graph";
import { CancellationScope, sleep, TimeoutFailure, workflowInfo } from "@temporalio/workflow";
import type { ShortAnswer } from "../../activity-types";
import type { Approvals } from "../approvals";
import { causeOf, isOfItem, isRunCancelled, runError } from "./failures";
import type { GraphRun } from "../../../run/graph-run";
import type { CallContext, RunInput } from "../../../run/types";

/** How the calls of a step are scheduled: its items in parallel, in batches, and each in the workflow task or by an activity. */

/** What one workflow task may schedule: Temporal ends runs whose task is larger than its largest message. */
const TASK_BYTES = 1_000_000;
/** Larger arguments travel as a claim check: see the payload codec. */
const INLINE_BYTES = 16 * 1024;
/** What a command carries beside its arguments, sealed and named. */
const COMMAND_BYTES = 2_000;

/**
 * Where a run makes no more calls. Temporal terminates a workflow whose history has 51,200 events or 50 MB, and a run that
 * is terminated can't say why; what is left is for the calls under way, their cancellation and the settlement.
 */
export const HISTORY_BOUNDS = { events: 40_000, bytes: 40_000_000 } as const;

/** @throws BoundPassed once the run's history is too long for another call */
export const checkHistory = ({ historyLength, historySize }: { historyLength: number; historySize: number }): void => {
  const { events, bytes } = HISTORY_BOUNDS;
  if (historyLength < events && historySize < bytes) return;
  throw new BoundPassed(
    `the run has made too many calls, or too large ones: its history holds ${historyLength} events of ${historySize} bytes`,
  );
};

export type Batches = ReturnType<typeof createBatches>;

/** Lets the calls of a run be scheduled in batches: each waits until its arguments fit into the workflow task that schedules it. */
export const createBatches = () => {
  let used = 0;
  let turn: Promise<void> = Promise.resolve();
  return {
    take: (call: unknown): Promise<void> => {
      checkHistory(workflowInfo());
      const bytes = Math.min(JSON.stringify(call).length, INLINE_BYTES) + COMMAND_BYTES;
      turn = turn.then(async () => {
        if (used > 0 && used + bytes > TASK_BYTES) {
          // A timer ends the task; what comes after it is scheduled by another one.
          await sleep(1);
          used = 0;
        }
        used += bytes;
      });
      return turn;
    },
  };
};

/** What takes too long is made again by the activity, which has the attempts. */
const declinedWhenLate = (error: unknown): { declined: true; afterMs?: number } => {
  if (causeOf(error) instanceof TimeoutFailure) return { declined: true };
  throw error;
};

/**
 * Makes a call in this workflow task where that is possible, else by an activity. While a task is open its run hears of
 * nothing else: only a call besides which nothing is under way may be made so.
 */
export const shortly = async <T>(isAlone: boolean, inTask: () => Promise<ShortAnswer<T>>, activity: () => Promise<T>): Promise<T> => {
  if (!isAlone) return activity();
  const answer = await inTask().catch(declinedWhenLate);
  if ("result" in answer) return answer.result;
  if (answer.afterMs) await sleep(answer.afterMs);
  return activity();
};

/** Longest summary of an activity, in characters; Temporal takes 400 bytes. */
const MAX_SUMMARY_CHARS = 90;
const CONTROL = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+/gu;
const MARKDOWN = /[\\`*_[\]()<>#|~]/g;

/** Names that users chose as one line of plain text: Temporal's UI reads summaries as Markdown. */
export const plainSummary = (text: string): string =>
  [...text.replace(CONTROL, " ")].slice(0, MAX_SUMMARY_CHARS).join("").replace(MARKDOWN, "\\$&");

/** One step of a run that makes calls. */
export interface StepRun {
  run: GraphRun;
  input: RunInput;
  step: PlanStep;
  /** Where a call of it stands in the run. */
  context: (item: number, items: number) => CallContext;
  batches: Batches;
  /** No other step of the run is under way, or becomes ready before this one is done. */
  isAlone: boolean;
  approvals: Pick<Approvals, "await">;
}

/** Calls every item in parallel. The first failure stops the others, and is thrown once they all have stopped. */
export const callItems = async <T>(
  items: Record<string, unknown>[],
  callItem: (item: Record<string, unknown>, index: number) => Promise<T>,
): Promise<T[]> => {
  const scope = new CancellationScope();
  let failure: unknown;
  const settled = await scope.run(() =>
    Promise.allSettled(
      items.map(async (item, index) => {
        try {
          return await callItem(item, index);
        } catch (error) {
          if (!isRunCancelled(error)) failure ??= error;
          scope.cancel();
          throw error;
        }
      }),
    ),
  );
  if (failure !== undefined) throw failure;
  return settled.map((result) => {
    if (result.status === "rejected") throw result.reason;
    return result.value;
  });
};

/** Calls what a step has for each of its items. */

type Item = Record<string, unknown>;

/**
 * Calls every item in parallel. Where the step says so, items that fail are absent in what this gives; all of them failing fails it, as one does
 * otherwise.
 */
export const callBound = async <T>(
  { run, input, step, context }: StepRun,
  bound: Bound,
  callItem: (item: Item, context: CallContext, index: number) => Promise<T>,
): Promise<(T | typeof ABSENT)[]> => {
  const { length } = bound.items;
  const skips = step.skipsFailed === true && length > 1;
  const firstItem = placeOf(bound, 0);
  const shared: Partial<CallContext> = { ...(firstItem > 0 ? { firstItem } : {}), ...(skips ? { isSkippable: true } : {}) };
  const call = (item: Item, index: number): Promise<T> => callItem(item, { ...context(placeOf(bound, index), length), ...shared }, index);
  if (!skips) return callItems(bound.items, call);
  let first: unknown;
  const results = await callItems(bound.items, async (item, index) => {
    try {
      return await call(item, index);
    } catch (error) {
      if (!isOfItem(error)) throw error;
      first ??= error;
      run.itemFailed(step.id, placeOf(bound, index), runError(error, run.node(step.id), input.mode));
      return ABSENT;
    }
  });
  if (results.every(isAbsent)) throw first;
  return results;
};
