import { activityInfo, ApplicationFailure, Context } from "@temporalio/activity";
import type { DomainError } from "@nodeloom/kernel";
import { linkSignals, type Logger } from "@nodeloom/platform";
import type { EarlierRuns } from "../lifecycle/earlier-runs";
import type { Execution } from "../lifecycle/execution";
import type { Holds } from "../lifecycle/holds";
import type { FileCalls } from "../calls/file-calls";
import type { ModelCalls } from "../calls/model-calls";
import { CalledOff, TryAgain } from "../calls/provider-failures";
import type { KeepFile } from "../calls/result-files";
import type { createHttpRequest } from "../calls/http-request";
import type { createReconciler } from "../lifecycle/reconcile";
import type { createDeliveryReconciler } from "../webhooks/reconcile-deliveries";
import type { createRenewals, RenewalProgress } from "../lifecycle/renewals";
import type { createRetention } from "../lifecycle/retention";
import type { Settlement } from "../lifecycle/settlement";
import type { Webhooks } from "../webhooks/webhooks";
import { answeredCall, completedCall, failedCall, type CallStore } from "../record/calls";
import type { ExecutionView } from "../record/execution-record";
import type { TextStream, TextStreams } from "../calls/text-streams";
import { TIMING } from "../contract/timing";
import type { Activities, LocalActivities, ModelCall, StepFailure } from "../contract/activity-types";
import { calledOff, cancelKey, extended, isTransient, laterOf, local, patiently, runErrorOf, submitUntil, type NodeCall } from "./steps";

export interface ActivityOptions {
  earlierRuns: EarlierRuns;
  holds: Pick<Holds, "extend">;
  /** Keeps what became of a call. */
  calls: Pick<CallStore, "callEnded">;
  settlement: Settlement;
  execution: Execution;
  modelCalls: ModelCalls;
  fileCalls: FileCalls;
  texts: Pick<TextStreams, "open">;
  httpRequest: ReturnType<typeof createHttpRequest>;
  keepFile: KeepFile;
  webhooks: Webhooks;
  reconcileRuns: ReturnType<typeof createReconciler>;
  reconcileDeliveries: ReturnType<typeof createDeliveryReconciler>;
  renewals: ReturnType<typeof createRenewals>;
  retention: ReturnType<typeof createRetention>;
  /** Does what a run owes since it was claimed. */
  onClaimed: (row: ExecutionView) => void;
  /** Hears at once that a run is being cancelled, until the returned function is called. */
  onCancel: (executionId: string, listener: () => void) => () => void;
  logger: Logger;
  /** Aborts when this process stops: polls then end at once, and go on elsewhere. */
  stopping: AbortSignal;
}

type LongWork<T> = (cancelled: AbortSignal, ending: AbortSignal) => Promise<T>;

/** Everything that touches the world, as Temporal calls it. */
export const createActivities = (options: ActivityOptions): Activities & LocalActivities => {
  const {
    earlierRuns,
    holds,
    settlement,
    calls,
    onClaimed,
    execution,
    modelCalls,
    fileCalls,
    texts,
    httpRequest,
    keepFile,
    webhooks,
    onCancel,
    logger,
    stopping,
  } = options;
  /** Long calls of this process, so that a cancellation stops them at once. */
  const running = new Map<string, AbortController>();

  /** Progress that could not be noted is no reason to do the work again: the end of the run records it all. */
  const noted = (progress: Promise<void>): Promise<void> =>
    progress.catch((error: unknown) => logger.warn({ err: error }, "progress was not noted"));

  /** Records a node's final failure and ends the activity for good; transient errors pass. */
  const guarded = async <T>(call: NodeCall, work: () => Promise<T>): Promise<T> => {
    try {
      return await work();
    } catch (error) {
      if (Context.current().cancellationSignal.aborted) throw error;
      if (error instanceof TryAgain) throw laterOf(error, call);
      if (isTransient(error)) throw error;
      const problem = runErrorOf(error as DomainError, call);
      await noted(calls.callEnded(failedCall(call, problem)));
      await noted(execution.nodeFailed(call.executionId, call.nodeId, call.nodeIndex, problem));
      const { jobMayRun } = (error as DomainError).metadata as StepFailure;
      throw ApplicationFailure.nonRetryable(problem.message, problem.code, problem, ...(jobMayRun ? [{ jobMayRun }] : []));
    }
  };

  /** Keeps a long activity alive and hands it signals: one that aborts when it is cancelled, and one that does when this process stops, too. */
  const beating = async <T>(key: string, work: LongWork<T>): Promise<T> => {
    const context = Context.current();
    const local = new AbortController();
    running.set(key, local);
    const everyMs = (context.info.heartbeatTimeoutMs ?? TIMING.heartbeat) / TIMING.beatsPerTimeout;
    const timer = setInterval(() => context.heartbeat(), everyMs);
    const signal = AbortSignal.any([context.cancellationSignal, local.signal]);
    const ending = linkSignals(signal, stopping);
    try {
      return await patiently(ending.signal, () => work(signal, ending.signal));
    } catch (error) {
      if (local.signal.aborted || error instanceof CalledOff) throw calledOff(error);
      throw error;
    } finally {
      clearInterval(timer);
      ending.unlink();
      if (running.get(key) === local) running.delete(key);
    }
  };

  /** Keeps a call alive that nothing but its own connection can stop, and breaks it off as soon as its run is cancelled. */
  const stoppable = <T>(call: NodeCall, work: LongWork<T>): Promise<T> =>
    beating(call.key, async (signal, ending) => {
      const deafen = onCancel(call.executionId, () => running.get(call.key)?.abort());
      try {
        return await work(signal, ending);
      } finally {
        deafen();
      }
    });

  /** Tells those who follow a text of it while it is written. */
  const writing = async <T>(call: ModelCall, work: (written: TextStream) => Promise<T>): Promise<T> => {
    const written = texts.open(call);
    try {
      return await work(written);
    } finally {
      written.close();
    }
  };

  return {
    claim: ({ executionId, attempt, claimedBy }) =>
      local(async () => {
        const row = await execution.claim(executionId, attempt, claimedBy);
        if (row) onClaimed(row);
        return row !== null;
      }),
    settle: (input, end, held) => local(() => settlement.settle(input, end, held)),
    extendHold: (input) => local(() => extended(input, () => holds.extend(input, input.items))),

    admit: (input) =>
      local(async () => {
        const cancelled = new AbortController();
        const unsubscribe = onCancel(input.executionId, () => cancelled.abort());
        const signal = AbortSignal.any([cancelled.signal, Context.current().cancellationSignal]);
        return earlierRuns.admit(input, signal).finally(unsubscribe);
      }),
    recordCalledOff: (input) => local(() => earlierRuns.recordCalledOff(input)),
    voidAdmission: (holdId, userId) => local(() => earlierRuns.voidAdmission(holdId, userId)),
    runInstant: (input, end) => local(() => earlierRuns.runInstant(input, end)),

    submit: (call) =>
      guarded(call, () =>
        stoppable(call, async (_cancelled, ending) => {
          const startedAt = activityInfo().scheduledTimestampMs;
          const job = await modelCalls.submit(call, ending, submitUntil());
          await execution.submitted(call, job.requestId, startedAt);
          return job;
        }),
      ),

    poll: (call, job) =>
      guarded(call, () =>
        beating(call.key, async (_cancelled, ending) => {
          const result = await modelCalls.poll(call, job, ending);
          await calls.callEnded(completedCall(call, result));
          await noted(execution.itemCompleted(call, { files: result.files }));
          return result;
        }),
      ),

    cancelJob: async (call, job) => {
      running.get(call.key)?.abort();
      try {
        return await beating(cancelKey(call), () => modelCalls.cancel(call, job));
      } catch (error) {
        throw error instanceof TryAgain ? laterOf(error, call) : error;
      }
    },

    runText: (call) =>
      guarded(call, () =>
        stoppable(call, async (signal) => {
          if (call.item === 0 && activityInfo().attempt === 1) await execution.nodeStarted(call);
          const result = await writing(call, (written) => modelCalls.text(call, signal, submitUntil(), written));
          await calls.callEnded(completedCall(call, result));
          await noted(execution.itemCompleted(call, {}));
          return result;
        }),
      ),

    runFiles: (call) =>
      guarded(call, () =>
        // Not ended by `stopping`: it could not go on elsewhere.
        stoppable(call, async (signal) => {
          if (call.item === 0 && activityInfo().attempt === 1) await execution.nodeStarted(call);
          const result = await fileCalls.run(call, signal, submitUntil());
          await calls.callEnded(completedCall(call, result));
          await noted(execution.itemCompleted(call, { files: result.files }));
          return result;
        }),
      ),

    stopFiles: (call) => {
      running.get(call.key)?.abort();
      return beating(cancelKey(call), () => fileCalls.stop(call));
    },

    httpRequest: (call) =>
      guarded(call, () =>
        stoppable(call, async (signal) => {
          if (call.item === 0 && activityInfo().attempt === 1) await execution.nodeStarted(call);
          if (await execution.isCalledOff(call.executionId)) throw new CalledOff();
          const answer = await httpRequest(call.call, call.key, signal);
          await noted(calls.callEnded(answeredCall(call, answer)));
          await noted(execution.itemCompleted(call, { status: answer.status }));
          return answer;
        }),
      ),

    keepFile: (call) =>
      guarded(call, () =>
        stoppable(call, async (signal) => {
          if (call.item === 0 && activityInfo().attempt === 1) await execution.nodeStarted(call);
          if (await execution.isCalledOff(call.executionId)) throw new CalledOff();
          const file = await keepFile(call, signal);
          await noted(calls.callEnded(completedCall(call, { files: [file], text: null, costMicroUsd: 0, requestId: null })));
          await noted(execution.itemCompleted(call, { files: [file] }));
          return file;
        }),
      ),

    sendWebhook: (id) => beating(`webhook:${id.executionId}:${id.delivery}:${id.attempt}`, () => webhooks.send(id)),
    recordAttempt: webhooks.record,

    reconcile: async () => {
      const beat = (): void => Context.current().heartbeat();
      return { ...(await options.reconcileRuns(beat)), ...(await options.reconcileDeliveries(beat)) };
    },

    enforceRetention: () => {
      const { heartbeat } = Context.current();
      return options.retention(() => heartbeat());
    },

    renewDuePlans: () => {
      const context = Context.current();
      const beat = (progress: RenewalProgress): void => {
        context.heartbeat(progress);
        context.cancellationSignal.throwIfAborted();
      };
      return options.renewals(beat, context.info.heartbeatDetails as RenewalProgress | undefined);
    },
  };
};
