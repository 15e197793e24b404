import { activityInfo, ApplicationFailure, Context } from "@temporalio/activity";
import { isRepairKey, type DomainError } from "@nodeloom/kernel";
import { linkSignals, type Logger } from "@nodeloom/platform";
import { createCallClock, type CallClock } from "../calls/clock";
import { providerFailed, RunCancelled, TryAgain } from "../calls/failures";
import type { StepFailure } from "../run/calls";
import { TIMING } from "../run/timing";
import { isFirstCall, type RunError } from "../run/types";
import type { Execution } from "../lifecycle/execution";
import { failedCall, refusedCall, type CallRecord } from "../run/call-record";
import { type CallStore } from "../record/calls/calls";
import { cancelledFailure, isTransient, laterOf, retryWhileUnavailable, runErrorOf, type NodeCall } from "./step-failures";

/** Runs one step as an activity: sends its heartbeats, aborts it when its run is cancelled, and records it. */

export interface StepDependencies {
  calls: Pick<CallStore, "recordEnd">;
  execution: Pick<Execution, "nodeStarted" | "nodeFailed" | "itemCompleted" | "itemFailed" | "fellBack">;
  /** Registers a listener that is called at once when the run is cancelled. The returned function removes it. */
  onCancel: (executionId: string, listener: () => void) => () => void;
  logger: Logger;
  stopping: AbortSignal;
}

export interface Signals {
  cancelled: AbortSignal;
  /** Aborts when the step is cancelled, and when this process stops and another process can continue. */
  ending: AbortSignal;
  /** Timeouts of the call, over all attempts. */
  clock: CallClock;
}

export interface StepOptions<Call extends NodeCall, Result, Rest extends unknown[] = []> {
  /** True if the first call of a node also starts the node. */
  begins?: boolean;
  /** True if cancelling the run aborts the step. Otherwise a separate activity stops it. */
  endsWithRun?: boolean;
  /** Deadline, counted from the first request to the provider. */
  limitMs?: number;
  /** Id at the provider, if it is known before the call. */
  requestId?: (...rest: Rest) => string;
  /**
   * Builds the record of the call. Without an event, the call's item continues. `isPaid`: the charge depends on the record, so it must be
   * written.
   */
  recordOf?: (call: Call, result: Result) => { record: CallRecord; event: Record<string, unknown> | null; isPaid?: boolean };
}

/** Progress that one attempt passes to the next. */
interface CallProgress {
  askedAt: number;
}

const notInTime = (): DomainError => providerFailed("the provider did not finish in time");

export const createSteps = ({ calls, execution, onCancel, logger, stopping }: StepDependencies) => {
  /** Long calls of this process, so that a cancellation aborts them. */
  const running = new Map<string, AbortController>();

  /** If progress can't be recorded, the work isn't repeated, because all progress is recorded when the run ends. */
  const bestEffort = (progress: Promise<void>): Promise<void> =>
    progress.catch((error: unknown) => logger.warn({ err: error }, "progress was not recorded"));

  /**
   * Activities wait until their progress is recorded. Calls in the workflow task don't wait, because they are made again if the process
   * dies.
   */
  const noteProgress = async (note: (mayWait: boolean) => Promise<void>, mustBeRecorded = false): Promise<void> => {
    const { isLocal } = activityInfo();
    const noted = note(isLocal);
    if (isLocal) return void bestEffort(noted);
    await (mustBeRecorded ? noted : bestEffort(noted));
  };

  /** Records the consequence of a failed call: a fallback, a left-out item, or a failed node. */
  const noteFailure = (call: NodeCall, problem: RunError, { mayTryAnother }: StepFailure): Promise<void> => {
    if (mayTryAnother && call.alternative?.isLast === false) return execution.fellBack(call, problem);
    return call.isSkippable ? execution.itemFailed(call, problem) : execution.nodeFailed(call.executionId, call.nodeId, problem);
  };

  /** Records a node's final failure and ends the activity. Transient errors are thrown unchanged. */
  const recordFailure = async <T>(call: NodeCall, requestId: string | null, work: () => Promise<T>): Promise<T> => {
    try {
      return await work();
    } catch (error) {
      if (Context.current().cancellationSignal.aborted) throw error;
      if (error instanceof TryAgain) throw laterOf(error, call);
      if (isTransient(error)) throw error;
      const problem = runErrorOf(error as DomainError, call);
      const { jobMayRun, mayTryAnother, refused } = (error as DomainError).metadata as StepFailure;
      const failure: StepFailure = {
        ...(jobMayRun ? { jobMayRun } : {}),
        ...(mayTryAnother ? { mayTryAnother } : {}),
        ...(refused ? { refused } : {}),
      };
      // A charged call must be recorded.
      if (refused) await calls.recordEnd(refusedCall(call, problem, refused));
      else await bestEffort(calls.recordEnd(failedCall(call, problem, requestId)));
      await bestEffort(noteFailure(call, problem, failure));
      throw ApplicationFailure.nonRetryable(problem.message, problem.code, problem, ...(Object.keys(failure).length > 0 ? [failure] : []));
    }
  };

  /** Sends heartbeats, waits for unavailable services of the platform, and provides the signals that end the activity. */
  const withHeartbeat = async <T>(key: string, work: (signals: Signals) => Promise<T>, limitMs = Infinity): Promise<T> => {
    const context = Context.current();
    const { isLocal, heartbeatTimeoutMs, heartbeatDetails, currentAttemptScheduledTimestampMs, scheduledTimestampMs } = context.info;
    const [local, late] = [new AbortController(), new AbortController()];
    running.set(key, local);
    let progress = heartbeatDetails as CallProgress | undefined;
    let limit: NodeJS.Timeout | undefined;
    // Calls in the workflow task have no heartbeat.
    const beat = (): void => void (isLocal || context.heartbeat(progress));
    const onAsked = (askedAt: number): void => {
      progress = { askedAt };
      beat();
      clearTimeout(limit);
      if (limitMs < Infinity) limit = setTimeout(() => late.abort(notInTime()), Math.max(0, askedAt + limitMs - Date.now()));
    };
    const timer = setInterval(beat, (heartbeatTimeoutMs ?? TIMING.heartbeat) / TIMING.beatsPerTimeout);
    // Time spent waiting for a worker doesn't count against the provider.
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

  /** Aborts work as soon as its run is cancelled, because only closing its connection can stop it. */
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
        { begins = false, endsWithRun = true, limitMs, requestId, recordOf }: StepOptions<Call, Result, Rest>,
        work: (call: Call, signals: Signals, ...rest: Rest) => Promise<Result>,
      ) =>
      (call: Call, ...rest: Rest): Promise<Result> => {
        const make = async (signals: Signals): Promise<Result> => {
          if (begins && isFirstCall(call) && !isRepairKey(call.key)) await noteProgress((mayWait) => execution.nodeStarted(call, mayWait));
          const result = await work(call, signals, ...rest);
          if (!recordOf) return result;
          const { record, event, isPaid = false } = recordOf(call, result);
          const write = calls.recordEnd(record);
          await (isPaid ? write : bestEffort(write));
          if (event) await noteProgress((mayWait) => execution.itemCompleted(call, event, mayWait));
          return result;
        };
        return recordFailure(call, requestId?.(...rest) ?? null, () =>
          withHeartbeat(call.key, (signals) => (endsWithRun ? cancellable(call, () => make(signals)) : make(signals)), limitMs),
        );
      },
  };
};
