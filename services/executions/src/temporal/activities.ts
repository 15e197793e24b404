import { setTimeout as delay } from "node:timers/promises";
import { activityInfo, ApplicationFailure, Context } from "@temporalio/activity";
import { DomainError, nodeName } from "@nodeloom/kernel";
import { isDatabaseAway, linkSignals, type Logger } from "@nodeloom/platform";
import type { EarlierRuns } from "../lifecycle/earlier-runs";
import type { Execution } from "../lifecycle/execution";
import type { Holds } from "../lifecycle/holds";
import type { FileCalls } from "../calls/file-calls";
import type { ModelCalls } from "../calls/model-calls";
import { CalledOff, mayHaveArrived, TryAgain } from "../calls/provider-failures";
import type { KeepFile } from "../calls/result-files";
import type { createHttpRequest } from "../calls/http-request";
import type { createReconciler } from "../lifecycle/reconcile";
import type { createDeliveryReconciler } from "../webhooks/reconcile-deliveries";
import type { createRenewals, RenewalProgress } from "../lifecycle/renewals";
import type { createRetention } from "../lifecycle/retention";
import { CALLED_OFF, type RunError } from "../contract/run-types";
import type { Settlement } from "../lifecycle/settlement";
import type { Webhooks } from "../webhooks/webhooks";
import { answeredCall, completedCall, failedCall, type CallStore } from "../record/calls";
import type { ExecutionView } from "../record/execution-record";
import type { TextStream, TextStreams } from "../calls/text-streams";
import { ATTEMPTS, TIMING } from "../contract/timing";
import type {
  Activities,
  ExtendInput,
  FileToKeep,
  HttpNodeCall,
  LocalActivities,
  ModelCall,
  StepFailure,
} from "../contract/activity-types";

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

type NodeCall = ModelCall | HttpNodeCall | FileToKeep;
type LongWork<T> = (cancelled: AbortSignal, ending: AbortSignal) => Promise<T>;

/** Services and databases of ours that are away come back. */
const areWeAway = (error: unknown): boolean => (error instanceof DomainError ? error.kind === "unavailable" : isDatabaseAway(error));

/** Errors of this kind pass: the activity is tried again. What surprised a service of ours is, for a while. */
const isTransient = (error: unknown): boolean =>
  !(error instanceof DomainError) ||
  error.kind === "unavailable" ||
  (error.kind === "internal" && activityInfo().attempt < ATTEMPTS.surprise);

/** Pauses before work is tried again that needs what is away. */
const FIRST_PAUSE_MS = 200;
const LONGEST_PAUSE_MS = 5_000;
/** The share of an attempt's time in which it waits for what is away: the rest is for the work. */
const PATIENCE = 1 / 3;

/**
 * Waits for services and databases of ours that are away, instead of using up an attempt: no run fails because we were
 * killed. What waits has changed nothing yet, or does no harm when it is done again.
 */
const patiently = async <T>(signal: AbortSignal, work: () => Promise<T>): Promise<T> => {
  const until = Date.now() + activityInfo().startToCloseTimeoutMs * PATIENCE;
  for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(pauseMs * 2, LONGEST_PAUSE_MS)) {
    try {
      return await work();
    } catch (error) {
      if (!areWeAway(error) || signal.aborted || Date.now() + pauseMs > until) throw error;
      await delay(pauseMs, undefined, { signal }).catch(() => undefined);
      if (signal.aborted) throw error;
    }
  }
};

const runErrorOf = (error: DomainError, { nodeId, label }: NodeCall): RunError => {
  const { providerStatus, providerBody } = error.metadata as { providerStatus?: number; providerBody?: string };
  return {
    code: error.kind === "failed" ? error.reason : "EXECUTION_FAILED",
    message: `node ${nodeName(nodeId, label)}: ${error.message}`,
    nodeId,
    ...(providerStatus === undefined ? {} : { providerStatus }),
    ...(providerBody === undefined ? {} : { providerBody }),
  };
};

/** A failure after which Temporal waits as long as the provider asked to. */
const laterOf = ({ problem, afterMs }: TryAgain, call: NodeCall): ApplicationFailure => {
  const { message, ...rest } = runErrorOf(problem, call);
  return ApplicationFailure.create({ message, type: rest.code, details: [{ message, ...rest }], nextRetryDelay: afterMs });
};

/** What ends a call whose run is being cancelled, when this process knows before Temporal has said so. */
const calledOff = (error: unknown): ApplicationFailure =>
  ApplicationFailure.nonRetryable("the run is being cancelled", CALLED_OFF, null, {
    jobMayRun: mayHaveArrived(error),
  } satisfies StepFailure);

const cancelKey = ({ key }: NodeCall): string => `cancel:${key}`;

/** When the last attempt of the step that runs here must be over. */
const submitUntil = (): number => activityInfo().scheduledTimestampMs + TIMING.submitTotal;

/**
 * A short step in the workflow task: it is tried again while what it needs is away, for as long as its run may last. What
 * can't pass ends it: a refusal at once, a fault of ours after a few attempts.
 */
const local = async <T>(work: () => Promise<T>): Promise<T> => {
  try {
    return await work();
  } catch (error) {
    if (error instanceof ApplicationFailure || areWeAway(error)) throw error;
    const isFault = !(error instanceof DomainError) || error.kind === "internal";
    if (isFault && activityInfo().attempt < ATTEMPTS.surprise) throw error;
    const { message } = error instanceof Error ? error : { message: String(error) };
    throw ApplicationFailure.nonRetryable(message, error instanceof DomainError ? error.reason : "INTERNAL");
  }
};

/** A refused extension ends its node with the refusal's code. */
const extended = async <T>({ nodeId, label }: ExtendInput, work: () => Promise<T>): Promise<T> => {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof DomainError) || areWeAway(error) || error.kind === "internal") throw error;
    const isMoney = error.reason === "INSUFFICIENT_CREDITS" || error.reason === "grant_exhausted";
    const message = `node ${nodeName(nodeId, label)}: ${error.message}`;
    const problem: RunError = { code: isMoney ? error.reason : "EXECUTION_FAILED", message, nodeId };
    throw ApplicationFailure.nonRetryable(message, problem.code, problem);
  }
};

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
