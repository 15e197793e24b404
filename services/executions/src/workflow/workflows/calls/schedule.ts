import { ABSENT, type Bound, BoundPassed, isAbsent, placeOf, type PlanStep } from "@nodeloom/kernel/graph";
import { CancellationScope, sleep, TimeoutFailure, workflowInfo } from "@temporalio/workflow";
import type { ShortAnswer } from "../../activity-types";
import type { Approvals } from "../approvals";
import { causeOf, isOfItem, isRunCancelled, runError } from "./failures";
import type { GraphRun } from "../../../run/graph-run";
import type { CallContext, RunInput } from "../../../run/types";

/** Schedules the calls of a step: in parallel, in batches, in the workflow task or in activities. */

/** Maximum bytes of a workflow task. Temporal ends a run if a task exceeds its message limit. */
const TASK_BYTES = 1_000_000;
/** Larger arguments are replaced with a claim check; see the payload codec. */
const INLINE_BYTES = 16 * 1024;
/** Size of a command in addition to its arguments, including encryption and names. */
const COMMAND_BYTES = 2_000;

/**
 * At these limits a run makes no more calls. Temporal terminates a workflow at 51,200 events or 50 MB of history, and users can't see the
 * reason. The rest is reserved for calls under way (at most 12 events each), cancellation and settlement.
 */
export const HISTORY_BOUNDS = { events: 44_000, bytes: 40_000_000 } as const;

/** Maximum calls under way of a run that can make more than a thousand. Other runs make all calls of a list at once. */
const CALLS_UNDER_WAY = 500;

/** @throws BoundPassed once the run's history is too long for another call */
export const checkHistory = ({ historyLength, historySize }: { historyLength: number; historySize: number }): void => {
  const { events, bytes } = HISTORY_BOUNDS;
  if (historyLength < events && historySize < bytes) return;
  throw new BoundPassed(
    `the run has made too many calls, or too large ones: its history holds ${historyLength} events of ${historySize} bytes`,
  );
};

export type Batches = ReturnType<typeof createBatches>;

/**
 * Schedules calls in batches. Each call waits until its arguments fit into the workflow task.
 * @param maxCalls maximum calls of the run, if its lists can be long
 */
export const createBatches = (maxCalls?: number) => {
  let used = 0;
  let turn: Promise<void> = Promise.resolve();
  let underWay = 0;
  const waiting: (() => void)[] = [];
  const enter = async (): Promise<void> => {
    if (underWay >= CALLS_UNDER_WAY) return new Promise((resolve) => waiting.push(resolve));
    underWay += 1;
  };
  /** Passes its place to the call that has waited longest. */
  const leave = (): void => {
    const next = waiting.shift();
    if (next) next();
    else underWay -= 1;
  };
  const placed = async <T>(makeCall: () => Promise<T>): Promise<T> => {
    await enter();
    try {
      return await makeCall();
    } finally {
      leave();
    }
  };
  return {
    /** Makes a call of a list once few enough calls are under way. */
    inPlace: <T>(makeCall: () => Promise<T>): Promise<T> => (maxCalls === undefined ? makeCall() : placed(makeCall)),
    take: (call: unknown): Promise<void> => {
      checkHistory(workflowInfo());
      const bytes = Math.min(JSON.stringify(call).length, INLINE_BYTES) + COMMAND_BYTES;
      turn = turn.then(async () => {
        if (used > 0 && used + bytes > TASK_BYTES) {
          // The timer ends the task, so later calls belong to another task.
          await sleep(1);
          used = 0;
        }
        used += bytes;
      });
      return turn;
    },
  };
};

/** The activity repeats slow calls, because only activities have retries. */
const declinedWhenLate = (error: unknown): { declined: true; afterMs?: number } => {
  if (causeOf(error) instanceof TimeoutFailure) return { declined: true };
  throw error;
};

/**
 * Makes a call in this workflow task if possible, otherwise in an activity. An open task blocks all other events of its run, so only a call
 * with no other step under way qualifies.
 */
export const shortly = async <T>(isAlone: boolean, inTask: () => Promise<ShortAnswer<T>>, activity: () => Promise<T>): Promise<T> => {
  if (!isAlone) return activity();
  const answer = await inTask().catch(declinedWhenLate);
  if ("result" in answer) return answer.result;
  if (answer.afterMs) await sleep(answer.afterMs);
  return activity();
};

/** Maximum characters of an activity's summary. Temporal's limit is 400 bytes. */
const MAX_SUMMARY_CHARS = 90;
const CONTROL = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+/gu;
const MARKDOWN = /[\\`*_[\]()<>#|~]/g;

/** Returns a user's name as one line of plain text, because Temporal's UI reads summaries as Markdown. */
export const plainSummary = (text: string): string =>
  [...text.replace(CONTROL, " ")].slice(0, MAX_SUMMARY_CHARS).join("").replace(MARKDOWN, "\\$&");

export interface StepRun {
  run: GraphRun;
  input: RunInput;
  step: PlanStep;
  /** Returns the position of a call in the run. */
  context: (item: number, items: number) => CallContext;
  batches: Batches;
  /** True if no other step is under way or becomes ready before this step is done. */
  isAlone: boolean;
  approvals: Pick<Approvals, "await">;
}

/** Calls every item in parallel. The first failure stops the other calls, and is thrown after all of them have stopped. */
export const callItems = async <T>(
  batches: Batches,
  items: Record<string, unknown>[],
  callItem: (item: Record<string, unknown>, index: number) => Promise<T>,
): Promise<T[]> => {
  const scope = new CancellationScope();
  let failure: unknown;
  const settled = await scope.run(() =>
    Promise.allSettled(
      items.map(async (item, index) => {
        try {
          return await batches.inPlace(() => callItem(item, index));
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

type Item = Record<string, unknown>;

/** Calls every item in parallel. If the step allows it, failed items are absent in the result. If all items fail, the step fails. */
export const callBound = async <T>(
  { run, input, step, context, batches }: StepRun,
  bound: Bound,
  callItem: (item: Item, context: CallContext, index: number) => Promise<T>,
): Promise<(T | typeof ABSENT)[]> => {
  const { length } = bound.items;
  const skips = step.skipsFailed === true && length > 1;
  const firstItem = placeOf(bound, 0);
  const shared: Partial<CallContext> = { ...(firstItem > 0 ? { firstItem } : {}), ...(skips ? { isSkippable: true } : {}) };
  const call = (item: Item, index: number): Promise<T> => callItem(item, { ...context(placeOf(bound, index), length), ...shared }, index);
  if (!skips) return callItems(batches, bound.items, call);
  let first: unknown;
  const results = await callItems(batches, bound.items, async (item, index) => {
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
