import {
  alternativeKey,
  BindError,
  type Bound,
  boundedMillicredits,
  type HoldItem,
  inputCharsProblem,
  itemHolds,
  moreKey,
  placeOf,
  type PlanAlternative,
  type PlanStep,
  pricedInputNames,
  renamedItem,
  repairKey,
} from "@nodeloom/kernel/graph";
import { CancellationScope } from "@temporalio/workflow";
import { isRunCancelled, jobMayRun, mayTryAnother, refusedCost, saidJobMayRun } from "./failures";
import { plainSummary, shortly, type StepRun } from "./schedule";
import { cancelJob, extendHold, poll, runFiles, runText, shortJob, stopFiles, submit } from "../steps";
import type { CancelResult, FollowedJob, ModelCall, SubmittedJob } from "../../../run/calls";
import type { GraphRun } from "../../../run/graph-run";
import type { CallContext, CallResult } from "../../../run/types";

export const extend = async ({ run, input, step: { id: nodeId } }: StepRun, items: HoldItem[]): Promise<void> => {
  const { executionId, userId, holdId, maxMillicredits, keyId, workflowSlug, metadata } = input;
  const attributed = { keyId, workflowSlug, ...(metadata ? { metadata } : {}) };
  const { label } = run.node(nodeId);
  const nodeFields = { nodeId, ...(label === undefined ? {} : { label }) };
  const extension = await extendHold({ executionId, userId, holdId, ...nodeFields, ...attributed, maxMillicredits, items });
  run.extended.push(...extension);
};

/** A call's key within its run. */
const ownKey = ({ executionId, key }: ModelCall): string => key.slice(executionId.length + 1);

/**
 * Extends the hold for a call whose input is longer than expected, before the call is sent. @throws BindError if the text exceeds the
 * node's limit
 */
const holdInput = async (stepRun: StepRun, call: ModelCall, called: CalledModel): Promise<void> => {
  const { run, input, step } = stepRun;
  const problem = inputCharsProblem([call.inputs], called.textPorts, step.maxInputChars);
  if (problem !== undefined) throw new BindError(problem);
  if (!called.typical) return;
  const key = ownKey(call);
  const item = [...input.held, ...run.extended].find((heldItem) => heldItem.key === key);
  if (!item || item.source === "grant") return;
  const more = boundedMillicredits(called, call.inputs) - item.millicredits;
  if (more > 0) await extend(stepRun, [{ key: moreKey(key), model: called.model, maxMillicredits: more }]);
};

/** Extends the hold for the second request of an item's answer, before the request is sent. */
const holdRepair = (stepRun: StepRun, call: ModelCall, called: CalledModel): Promise<void> => {
  const { model, maxMillicredits: most, answer } = called;
  const { maxRepairMillicredits } = answer!;
  // The first answer and the request to correct it cost the same for any input length. Both bounds are rounded up.
  const bound = called.typical ? boundedMillicredits(called, call.inputs) + maxRepairMillicredits - most + 1 : maxRepairMillicredits;
  return extend(stepRun, [{ key: repairKey(ownKey(call)), model, maxMillicredits: Math.min(bound, maxRepairMillicredits) }]);
};

/** Extends the hold for a list that is longer than planned, before any of its calls is submitted. */
export const holdMore = async (stepRun: StepRun, bound: Bound): Promise<void> => {
  const { step } = stepRun;
  const more = bound.items.map((_, index) => placeOf(bound, index)).filter((place) => place >= step.maxItems);
  if (more.length > 0)
    await extend(
      stepRun,
      more.flatMap((place) => itemHolds(step, place)),
    );
};

/** Charges a call whose output moderation refused. */
const chargingRefused = async <T>(run: GraphRun, call: ModelCall, pendingResult: Promise<T>): Promise<T> => {
  try {
    return await pendingResult;
  } catch (error) {
    const costMicroUsd = refusedCost(error);
    if (costMicroUsd !== undefined) run.callCompleted(call, costMicroUsd);
    throw error;
  }
};

const ask = async ({ run }: StepRun, call: ModelCall, summary: string): Promise<CallResult> => {
  const result = await chargingRefused(run, call, runText.executeWithOptions({ summary: plainSummary(summary) }, [call]));
  run.callCompleted(call, result.costMicroUsd);
  if (result.usage) run.tokensUsed(call.nodeId, result.usage);
  return result;
};

/** @throws BindError if the answer doesn't match its schema */
export const fitting = ({ model }: ModelCall, result: CallResult): CallResult => {
  if (!result.problems) return result;
  throw new BindError(`${model}: its answer does not fit the schema: ${result.problems.join("; ")}`);
};

/**
 * Calls a language model in one activity. If the answer doesn't match its schema, it is requested a second time in a call with its own
 * hold.
 * @throws BindError if the second answer doesn't match either
 */
export const callText = async (stepRun: StepRun, call: ModelCall, called: CalledModel): Promise<CallResult> => {
  const { run, batches } = stepRun;
  const summary = `${call.nodeId}: ${call.model}`;
  await holdInput(stepRun, call, called);
  let result = await ask(stepRun, call, summary);
  if (result.problems) {
    run.countRepair();
    await holdRepair(stepRun, call, called);
    const repair: ModelCall = {
      ...call,
      key: repairKey(call.key),
      repair: { answer: result.text ?? "", problems: result.problems },
    };
    await batches.take(repair);
    result = await ask(stepRun, repair, `${summary} (repair)`);
  }
  const fit = fitting(call, result);
  if (fit.isCut) run.textCut(call.nodeId);
  run.itemDone(call.nodeId);
  return fit;
};

const completed = (run: GraphRun, call: ModelCall, result: CallResult): CallResult => {
  run.callCompleted(call, result.costMicroUsd);
  run.itemDone(call.nodeId);
  return result;
};

/** Stops a call and records the result, including its finished part. */
const stopCall = (run: GraphRun, call: ModelCall, stop: () => Promise<CancelResult>): Promise<CallResult | null> =>
  CancellationScope.nonCancellable(async () => {
    try {
      const { report, finished, refused } = await stop();
      run.stopped(call.nodeId, report);
      if (refused) run.callCompleted(call, refused.costMicroUsd);
      return finished && completed(run, call, finished);
    } catch {
      run.stopped(call.nodeId, "could_not_stop");
      return null;
    }
  });

const cancelSummary = (call: ModelCall): { summary: string } => ({ summary: plainSummary(`${call.nodeId}: cancel`) });

const stopJob = (run: GraphRun, call: ModelCall, job: SubmittedJob): Promise<CallResult | null> =>
  stopCall(run, call, () => cancelJob.executeWithOptions(cancelSummary(call), [submitted(call), job]));

/** Reduces a submitted call to the inputs that its price depends on. */
const submitted = (call: ModelCall): ModelCall => {
  const priced = pricedInputNames(call.price);
  return { ...call, inputs: Object.fromEntries(Object.entries(call.inputs).filter(([name]) => priced.includes(name))) };
};

/** Calls a model that creates jobs. A job takes two activities, however long it runs, or one step if it is short. */
export const callJob = async (run: GraphRun, call: ModelCall, isAlone: boolean): Promise<CallResult> => {
  const summary = plainSummary(`${call.nodeId}: ${call.model}`);
  const { job, result: finished } = await shortly<FollowedJob>(
    isAlone,
    () => shortJob.executeWithOptions({ summary }, [call]),
    async () => ({ job: await submit.executeWithOptions({ summary }, [call]) }),
  ).catch((error: unknown) => {
    // Without the job's id, the provider can't be asked to stop it.
    if (isRunCancelled(error) && saidJobMayRun(error)) run.stopped(call.nodeId, "could_not_stop");
    throw error;
  });
  // A node shows the request id of its first item.
  run.requestId ??= job.requestId;
  if (call.item === (call.firstItem ?? 0)) run.node(call.nodeId).requestId ??= job.requestId;
  run.submitted.add(ownKey(call));
  if (finished) return completed(run, call, finished);
  try {
    const polled = poll.executeWithOptions({ summary }, [submitted(call), job]);
    return completed(run, call, await chargingRefused(run, call, polled));
  } catch (error) {
    // A failed job is free, even if its run is cancelled.
    if (!isRunCancelled(error)) run.submitted.delete(ownKey(call));
    // Ask the provider to stop the job.
    if (!jobMayRun(error)) throw error;
    const keptResult = await stopJob(run, call, job);
    if (keptResult) return keptResult;
    throw error;
  }
};

/** Calls a model that answers with files, in one activity. */
export const callFiles = async (run: GraphRun, call: ModelCall): Promise<CallResult> => {
  try {
    const pendingResult = runFiles.executeWithOptions({ summary: plainSummary(`${call.nodeId}: ${call.model}`) }, [call]);
    return completed(run, call, await chargingRefused(run, call, pendingResult));
  } catch (error) {
    if (!isRunCancelled(error)) throw error;
    const finished = await stopCall(run, call, () => stopFiles.executeWithOptions(cancelSummary(call), [call]));
    if (finished) return finished;
    throw error;
  }
};

/** Calls the model of an item, and after certain failures the next fallback. */

/** The step's own model, or a fallback. */
export type CalledModel = Pick<PlanStep, "answer"> & Pick<PlanAlternative, "model" | "maxMillicredits" | "typical" | "textPorts">;

type MakeCall = (call: ModelCall, called: CalledModel) => Promise<CallResult>;

const callOf = ({ run, input }: StepRun, one: PlanAlternative, item: Record<string, unknown>, context: CallContext): ModelCall => {
  const { authorFiles } = input.plan;
  return {
    ...context,
    model: one.model,
    inputs: run.inputs.ofCall(one, renamedItem(item, one.renamed)),
    price: input.plan.models[one.model]!.price,
    ...(authorFiles ? { authorFiles } : {}),
    ...(input.provenance ? { provenance: input.provenance } : {}),
    ...(one.answer ? { schema: one.answer.schema } : {}),
  };
};

const ownModel = (step: PlanStep): PlanAlternative => ({ ...step, model: step.model! });

export const ownCall = (stepRun: StepRun, item: Record<string, unknown>, context: CallContext): ModelCall =>
  callOf(stepRun, ownModel(stepRun.step), item, context);

export const callModelOf = async (stepRun: StepRun, item: Record<string, unknown>, context: CallContext, make: MakeCall) => {
  const { run, step } = stepRun;
  const { fallback = [] } = step;
  const own = ownModel(step);
  if (fallback.length === 0) return make(callOf(stepRun, own, item, context), own);
  for (let place = 0; ; place += 1) {
    const one = place === 0 ? own : fallback[place - 1]!;
    const isLast = place === fallback.length;
    const alternative = { place, model: one.model, isLast };
    const call = callOf(stepRun, one, item, { ...context, key: alternativeKey(context.key, place), alternative });
    try {
      return await make(call, one);
    } catch (error) {
      if (isLast || !mayTryAnother(error)) throw error;
      run.fellBack(call);
    }
  }
};
