import { activityInfo, ApplicationFailure, Context } from "@temporalio/activity";
import { isRepairKey, type DomainError } from "@nodeloom/kernel";
import { linkSignals, type Logger } from "@nodeloom/platform";
import { createCallClock, type CallClock } from "../calls/clock";
import { final, RunCancelled, TryAgain } from "../calls/failures";
import type { StepFailure } from "../run/calls";
import { TIMING } from "../run/timing";
import { isFirstCall, type RunError } from "../run/types";
import type { Execution } from "../lifecycle/execution";
import { failedCall, refusedCall, type CallRecord } from "../run/call-record";
import { type CallStore } from "../record/calls";
import { cancelledFailure, isTransient, laterOf, retryWhileUnavailable, runErrorOf, type NodeCall } from "./step-failures";

/** One step of a run as an activity: kept alive, broken off with its run, and recorded, however it ends. */

export interface StepDependencies {
  calls: Pick<CallStore, "ended">;
  execution: Pick<Execution, "nodeStarted" | "nodeFailed" | "itemCompleted" | "itemFailed" | "fellBack">;
  /** Hears at once that a run is being cancelled, until the returned function is called. */
  onCancel: (executionId: string, listener: () => void) => () => void;
  logger: Logger;
  stopping: AbortSignal;
}

export interface Signals {
  cancelled: AbortSignal;
  /** Aborts when the step is cancelled, and when this process stops: what can go on elsewhere ends then. */
  ending: AbortSignal;
  /** The times of the call, over all attempts. */
  clock: CallClock;
}

export interface StepOptions<Call extends NodeCall, Result, Rest extends unknown[] = []> {
  /** Its first call begins the node. */
  begins?: boolean;
  /** True if it breaks off as soon as its run is cancelled. Otherwise an activity of its own stops it. */
  endsWithRun?: boolean;
  /** How long it may take from when its provider was asked. */
  limitMs?: number;
  /** What its provider calls it, where that is known before it begins. */
  requestId?: (...rest: Rest) => string;
  /** What is kept of it. Without an event its item goes on. `isPaid`: it is charged for by that record, which therefore must be written. */
  kept?: (call: Call, result: Result) => { record: CallRecord; event: Record<string, unknown> | null; isPaid?: boolean };
}

/** What an attempt at a step leaves to the next one. */
interface CallProgress {
  askedAt: number;
}

const notInTime = (): DomainError => final("EXECUTION_FAILED", "the provider did not finish in time");

export const createSteps = ({ calls, execution, onCancel, logger, stopping }: StepDependencies) => {
  /** Long calls of this process, so that a cancellation stops them at once. */
  const running = new Map<string, AbortController>();

  /** Progress that could not be recorded is no reason to do the work again: the end of the run records it all. */
  const bestEffort = (progress: Promise<void>): Promise<void> =>
    progress.catch((error: unknown) => logger.warn({ err: error }, "progress was not recorded"));

  /** An activity waits until its progress is recorded. A call in the workflow task does not: were its process lost, it would be made again. */
  const noteProgress = async (note: (mayWait: boolean) => Promise<void>, mustBeRecorded = false): Promise<void> => {
    const { isLocal } = activityInfo();
    const noted = note(isLocal);
    if (isLocal) return void bestEffort(noted);
    await (mustBeRecorded ? noted : bestEffort(noted));
  };

  /** What a call's failure means for its node: another model is called, the item is left out, or the node has failed. */
  const noteFailure = (call: NodeCall, problem: RunError, { mayTryAnother }: StepFailure): Promise<void> => {
    if (mayTryAnother && call.alternative?.isLast === false) return execution.fellBack(call, problem);
    return call.isSkippable ? execution.itemFailed(call, problem) : execution.nodeFailed(call.executionId, call.nodeId, problem);
  };

  /** Records a node's final failure and ends the activity for good; transient errors pass. */
  const recordFailure = async <T>(call: NodeCall, requestId: string | null, work: () => Promise<T>): Promise<T> => {
    try {
      return await work();
    } catch (error) {
      if (Context.current().cancellationSignal.aborted) throw error;
      if (error instanceof TryAgain) throw laterOf(error, call);
      if (isTransient(error)) throw error;
      const problem = runErrorOf(error as DomainError, call);
      const { jobMayRun, mayTryAnother, refused } = (error as DomainError).metadata as StepFailure;
      const said: StepFailure = {
        ...(jobMayRun ? { jobMayRun } : {}),
        ...(mayTryAnother ? { mayTryAnother } : {}),
        ...(refused ? { refused } : {}),
      };
      // What is charged for must be written.
      if (refused) await calls.ended(refusedCall(call, problem, refused));
      else await bestEffort(calls.ended(failedCall(call, problem, requestId)));
      await bestEffort(noteFailure(call, problem, said));
      throw ApplicationFailure.nonRetryable(problem.message, problem.code, problem, ...(Object.keys(said).length > 0 ? [said] : []));
    }
  };

  /** Keeps a long activity alive, waits for services of ours that are away, and hands it the signals by which it ends. */
  const withHeartbeat = async <T>(key: string, work: (signals: Signals) => Promise<T>, limitMs = Infinity): Promise<T> => {
    const context = Context.current();
    const { isLocal, heartbeatTimeoutMs, heartbeatDetails, currentAttemptScheduledTimestampMs, scheduledTimestampMs } = context.info;
    const [local, late] = [new AbortController(), new AbortController()];
    running.set(key, local);
    let progress = heartbeatDetails as CallProgress | undefined;
    let limit: NodeJS.Timeout | undefined;
    // What is made in the workflow task has no heartbeat.
    const beat = (): void => void (isLocal || context.heartbeat(progress));
    const onAsked = (askedAt: number): void => {
      progress = { askedAt };
      beat();
      clearTimeout(limit);
      if (limitMs < Infinity) limit = setTimeout(() => late.abort(notInTime()), Math.max(0, askedAt + limitMs - Date.now()));
    };
    const timer = setInterval(beat, (heartbeatTimeoutMs ?? TIMING.heartbeat) / TIMING.beatsPerTimeout);
    // What an attempt waited for a worker is no time of the provider's.
    const waitedMs = Math.max(0, Date.now() - currentAttemptScheduledTimestampMs);
    if (progress) onAsked(progress.askedAt + waitedMs);
    const clock = createCallClock({ askedAt: progress?.askedAt, deadline: scheduledTimestampMs + TIMING.run, onAsked });
    const cancelled = AbortSignal.any([context.cancellationSignal, local.signal, late.signal]);
    const ending = linkSignals(cancelled, stopping);
    try {
      return await retryWhileUnavailable(ending.signal, () => work({ cancelled, ending: ending.signal, clock }));
    } catch (error) {
      if (late.signal.aborted && !context.cancellationSignal.aborted) throw notInTime();
      if (local.signal.aborted || error instanceof RunCancelled) throw cancelledFailure(error);
      throw error;
    } finally {
      clearInterval(timer);
      clearTimeout(limit);
      ending.unlink();
      if (running.get(key) === local) running.delete(key);
    }
  };

  const abort = (key: string): void => running.get(key)?.abort();

  /** Breaks work off as soon as its run is cancelled: nothing but its own connection can stop it. */
  const cancellable = async <T>(call: NodeCall, work: () => Promise<T>): Promise<T> => {
    const unsubscribe = onCancel(call.executionId, () => abort(call.key));
    try {
      return await work();
    } finally {
      unsubscribe();
    }
  };

  return {
    withHeartbeat,
    noteProgress,

    abort,

    step:
      <Call extends NodeCall, Result, Rest extends unknown[]>(
        { begins = false, endsWithRun = true, limitMs, requestId, kept }: StepOptions<Call, Result, Rest>,
        work: (call: Call, signals: Signals, ...rest: Rest) => Promise<Result>,
      ) =>
      (call: Call, ...rest: Rest): Promise<Result> => {
        const make = async (signals: Signals): Promise<Result> => {
          if (begins && isFirstCall(call) && !isRepairKey(call.key)) await noteProgress((mayWait) => execution.nodeStarted(call, mayWait));
          const result = await work(call, signals, ...rest);
          if (!kept) return result;
          const { record, event, isPaid = false } = kept(call, result);
          const written = calls.ended(record);
          await (isPaid ? written : bestEffort(written));
          if (event) await noteProgress((mayWait) => execution.itemCompleted(call, event, mayWait));
          return result;
        };
        return recordFailure(call, requestId?.(...rest) ?? null, () =>
          withHeartbeat(call.key, (signals) => (endsWithRun ? cancellable(call, () => make(signals)) : make(signals)), limitMs),
        );
      },
  };
};
