import {
  ActivityCancellationType,
  ApplicationFailure,
  ActivityFailure,
  CancellationScope,
  isCancellation,
  proxyActivities,
  TimeoutFailure,
} from "@temporalio/workflow";
import {
  authorFilesOf,
  callsHttp,
  collect,
  itemKey,
  JSON_PORT,
  makesResult,
  mediaOutput,
  nodeName,
  outputPort,
  PRICED_INPUTS,
  type PlanStep,
} from "@nodeloom/kernel/graph";
import { RUN_CANCELLED, type CallContext, type CallResult, type NodeState, type RunError, type RunInput } from "../../contract/run-types";
import { ATTEMPTS, TIMING } from "../../contract/timing";
import type { Activities, CancelResult, ModelCall, StepFailure, SubmittedJob } from "../../contract/activity-types";
import { callText } from "./call-text";
import { holdMore } from "./extend";
import type { GraphRun } from "./graph-run";
import { keepFiles } from "./keep-files";
import { causeOf, short, shortly } from "./short-calls";
import { plainSummary } from "./summary";
import type { Waves } from "./waves";

const backoff = { initialInterval: 250, backoffCoefficient: 2, maximumInterval: "10s" } as const;

const { submit } = proxyActivities<Activities>({
  scheduleToCloseTimeout: TIMING.run,
  heartbeatTimeout: TIMING.heartbeatQuick,
  cancellationType: ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
  retry: backoff,
});
const { poll } = proxyActivities<Activities>({
  scheduleToCloseTimeout: TIMING.job,
  heartbeatTimeout: TIMING.heartbeatQuick,
  cancellationType: ActivityCancellationType.TRY_CANCEL,
  retry: { ...backoff, maximumAttempts: ATTEMPTS.poll },
});
const { runFiles } = proxyActivities<Activities>({
  startToCloseTimeout: TIMING.run,
  heartbeatTimeout: TIMING.heartbeat,
  cancellationType: ActivityCancellationType.TRY_CANCEL,
  retry: { ...backoff, maximumAttempts: ATTEMPTS.direct },
});
const { httpRequest } = proxyActivities<Activities>({
  startToCloseTimeout: TIMING.httpRequest,
  heartbeatTimeout: TIMING.heartbeat,
  cancellationType: ActivityCancellationType.TRY_CANCEL,
  retry: { ...backoff, maximumAttempts: ATTEMPTS.httpRequest },
});
const { cancelJob, stopFiles } = proxyActivities<Activities>({
  startToCloseTimeout: TIMING.cancelJob,
  heartbeatTimeout: TIMING.heartbeatQuick,
  retry: { ...backoff, maximumAttempts: ATTEMPTS.cancelJob },
});

/**
 * The error of a failed activity (or of anything thrown) as the run records it. A refused submission has a code of
 * its own only where the caller waits for the submission.
 */
export const runError = (error: unknown, { id: nodeId, label }: NodeState, mode: RunInput["mode"]): RunError => {
  const cause = causeOf(error);
  if (cause instanceof ApplicationFailure) {
    const [details] = (cause.details ?? []) as [RunError?];
    const code = details?.code === "PROVIDER_SUBMIT_FAILED" && mode === "sync" ? "EXECUTION_FAILED" : details?.code;
    if (details && code) return { ...details, code, nodeId };
  }
  return { code: "EXECUTION_FAILED", message: `node ${nodeName(nodeId, label)}: ${describe(error)}`, nodeId };
};

/** Whether a step ended because its run is being cancelled: as the workflow knows it, or as an activity found it first. */
export const isRunCancelled = (error: unknown): boolean => {
  const cause = causeOf(error);
  return isCancellation(error) || (cause instanceof ApplicationFailure && cause.type === RUN_CANCELLED);
};

const isTimeout = (error: ActivityFailure): boolean => error.cause instanceof TimeoutFailure;

const describe = (error: unknown): string => {
  if (error instanceof Error && error.name === "BindError") return error.message;
  if (!(error instanceof ActivityFailure)) return "the provider did not finish in time";
  // What is sent once is tried again only while it certainly did not arrive.
  const neverArrived = error.activityType === "submit" || (error.activityType === "runFiles" && !isTimeout(error));
  return neverArrived ? "the provider could not be reached" : "the provider did not finish in time";
};

const record = (run: GraphRun, call: CallContext, result: CallResult): CallResult => {
  run.callCompleted(call, result.costMicroUsd);
  run.itemDone(call.nodeId);
  return result;
};

/** Whether an activity said that its job may go on at the provider. */
const saidJobMayRun = (error: unknown): boolean => {
  const cause = causeOf(error);
  const [, failure] = ((cause instanceof ApplicationFailure && cause.details) || []) as [unknown, StepFailure?];
  return failure?.jobMayRun === true;
};

/** Whether a step ended while its job may go on: it was cancelled, its time is over, or its provider fell silent. */
const jobMayRun = (error: unknown): boolean =>
  isRunCancelled(error) || (error instanceof ActivityFailure && isTimeout(error)) || saidJobMayRun(error);

/** Stops a call and notes how that went; what had been finished by then counts. */
const stopCall = (run: GraphRun, call: ModelCall, stop: () => Promise<CancelResult>): Promise<CallResult | null> =>
  CancellationScope.nonCancellable(async () => {
    try {
      const { report, finished } = await stop();
      run.stopped(call.nodeId, report);
      return finished && record(run, call, finished);
    } catch {
      run.stopped(call.nodeId, "could_not_stop");
      return null;
    }
  });

const cancelSummary = (call: ModelCall): { summary: string } => ({ summary: plainSummary(`${call.nodeId}: cancel`) });

const stopJob = (run: GraphRun, call: ModelCall, job: SubmittedJob): Promise<CallResult | null> =>
  stopCall(run, call, () => cancelJob.executeWithOptions(cancelSummary(call), [submitted(call), job]));

/** A call that was submitted: of its inputs only the one matters still that its price depends on. */
const submitted = (call: ModelCall): ModelCall => {
  const { basis } = call.price;
  const priced = basis === "run" ? undefined : PRICED_INPUTS[basis];
  return { ...call, inputs: Object.fromEntries(Object.entries(call.inputs).filter(([name]) => name === priced)) };
};

/** A provider that makes files: two activities, however long it takes. */
const callJob = async (run: GraphRun, call: ModelCall, isAlone: boolean): Promise<CallResult> => {
  const summary = plainSummary(`${call.nodeId}: ${call.model}`);
  const job = await shortly(
    isAlone,
    () => short.submit.executeWithOptions({ summary }, [call]),
    () => submit.executeWithOptions({ summary }, [call]),
  ).catch((error: unknown) => {
    // Its job has no name here by which the provider could be told.
    if (isRunCancelled(error) && saidJobMayRun(error)) run.stopped(call.nodeId, "could_not_stop");
    throw error;
  });
  run.requestId ??= job.requestId;
  run.node(call.nodeId).requestId ??= job.requestId;
  run.underWay.add(itemKey(call.nodeId, call.item));
  const heartbeatTimeout = job.heartbeatTimeoutMs ?? TIMING.heartbeatQuick;
  try {
    const result = await shortly(
      isAlone,
      () => short.poll.executeWithOptions({ summary }, [submitted(call), job]),
      () => poll.executeWithOptions({ summary, heartbeatTimeout }, [submitted(call), job]),
    );
    return record(run, call, result);
  } catch (error) {
    // A job that failed is free, however its run ends.
    if (!isRunCancelled(error)) run.underWay.delete(itemKey(call.nodeId, call.item));
    // Its result is not waited for any more: the provider is told, too.
    if (!jobMayRun(error)) throw error;
    const finished = await stopJob(run, call, job);
    if (finished) return finished;
    throw error;
  }
};

/** A provider that answers with files: one activity. */
const callFiles = async (run: GraphRun, call: ModelCall): Promise<CallResult> => {
  try {
    return record(run, call, await runFiles.executeWithOptions({ summary: plainSummary(`${call.nodeId}: ${call.model}`) }, [call]));
  } catch (error) {
    if (!isRunCancelled(error)) throw error;
    const finished = await stopCall(run, call, () => stopFiles.executeWithOptions(cancelSummary(call), [call]));
    if (finished) return finished;
    throw error;
  }
};

/** Calls every item in parallel. The first failure stops the others, and is thrown once they all have stopped. */
const callItems = async <T>(
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

/** Where a call stands in its run. */
type ContextOf = (item: number, items: number) => CallContext;

const callModel = async (
  run: GraphRun,
  input: RunInput,
  step: PlanStep,
  context: ContextOf,
  waves: Waves | undefined,
  isAlone: boolean,
): Promise<void> => {
  const { items, mapped } = run.bind(step);
  await holdMore(run, input, step, items.length);
  const model = step.model!;
  const { providerKind, modality, price } = input.plan.models[model]!;
  const authorFiles = authorFilesOf(input.plan);
  const isText = modality === "text";
  const results = await callItems(items, async (item, index) => {
    const call: ModelCall = {
      ...context(index, items.length),
      model,
      inputs: run.callInputs(step, item),
      price,
      ...(authorFiles ? { authorFiles } : {}),
      ...(step.answer ? { schema: step.answer.schema } : {}),
    };
    if (waves) await waves.take(call);
    if (providerKind === "direct") return callFiles(run, call);
    if (!isText) return callJob(run, call, isAlone && items.length === 1);
    return callText({ run, input, step, waves }, call);
  });
  const [first] = results;
  // A job's id is known since it was submitted.
  if (first) {
    run.requestId ??= first.requestId;
    run.node(step.id).requestId ??= first.requestId;
  }
  const values = results.map((result) => (isText ? result.text : mediaOutput(result.files)));
  run.give(step.id, outputPort(step.type), collect(values, mapped));
  if (step.answer) {
    const parsed = results.map(({ json }) => json?.value);
    run.give(step.id, JSON_PORT, collect(parsed, mapped));
  }
};

const callHttp = async (run: GraphRun, step: PlanStep, context: ContextOf, waves: Waves | undefined, isAlone: boolean): Promise<void> => {
  const { items, mapped } = run.bind(step);
  const answers = await callItems(items, async (item, index) => {
    const call = { ...context(index, items.length), call: run.httpCall(step, item) };
    if (waves) await waves.take(call);
    const summary = plainSummary(`${step.id}: http request`);
    const answer = await shortly(
      isAlone && items.length === 1,
      () => short.httpRequest.executeWithOptions({ summary }, [call]),
      () => httpRequest.executeWithOptions({ summary }, [call]),
    );
    run.itemDone(step.id);
    return answer;
  });
  run.give(step.id, "body", mapped ? answers.map((answer) => answer.body) : answers[0]?.body);
  run.give(step.id, "status", mapped ? answers.map((answer) => answer.status) : answers[0]?.status);
};

/**
 * Runs one step to its end and stores its outputs.
 * @param isAlone nothing else of the run is under way meanwhile
 */
export const runStep = async (run: GraphRun, input: RunInput, step: PlanStep, waves?: Waves, isAlone = false): Promise<void> => {
  const { executionId, userId } = input;
  const nodeIndex = run.indexOf(step.id);
  const { label } = run.node(step.id);
  const startedAt = Date.now();
  const context: ContextOf = (item, items) => ({
    executionId,
    userId,
    nodeId: step.id,
    ...(label === undefined ? {} : { label }),
    nodeIndex,
    item,
    items,
    startedAt,
    key: `${executionId}:${step.id}:${item}`,
  });
  run.start(step, startedAt);
  if (step.model !== undefined) await callModel(run, input, step, context, waves, isAlone);
  else if (callsHttp(step.type)) await callHttp(run, step, context, waves, isAlone);
  else if (makesResult(step.type)) await keepFiles(step, { run, plan: input.plan, context, callItems, waves, isAlone });
  else run.evaluate(step);
  run.complete(step.id, Date.now());
};
