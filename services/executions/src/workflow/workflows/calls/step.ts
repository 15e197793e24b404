import {
  type Bound,
  callsHttp,
  callsTransform,
  innerOwner,
  isAbsent,
  itemHolds,
  makesResult,
  placeOf,
  waitsForDecision,
  withoutAbsent,
} from "@nodeloom/kernel/graph";
import { keepFiles } from "./keep-files";
import { callFiles, callJob, callModelOf, callText, extend, fitting, holdMore, ownCall } from "./models";
import { callBound, plainSummary, shortly, type StepRun } from "./schedule";
import { httpRequest, runTransform, shortHttpRequest, takeOver } from "../steps";
import type { ReusedResult } from "../../../run/call-record";
import type { HttpNodeCall, HttpResult, ModelCall, TransformCall } from "../../../run/calls";
import type { CallContext } from "../../../run/types";
import { httpOutputs, modelOutputs, resultOfOutputs, transformOutputs } from "../../../run/values";

type Item = Record<string, unknown>;

const callModel = async (stepRun: StepRun): Promise<void> => {
  const { run, input, step, batches, isAlone } = stepRun;
  const bound = run.bind(step);
  const reused = await reuseCalls(stepRun, bound, (item, context) => ownCall(stepRun, item, context));
  await (input.reuse ? holdMade(stepRun, bound, reused) : holdMore(stepRun, bound));
  const results = await callBound(stepRun, bound, async (item, context, index) => {
    const one = reused?.[index];
    if (one) return resultOfOutputs(one.outputs);
    return callModelOf(stepRun, item, context, async (call, called) => {
      await batches.take(call);
      const { providerKind } = input.plan.models[call.model]!;
      if (providerKind === "direct-http") return fitting(call, await callFiles(run, call));
      if (providerKind !== "llm") return fitting(call, await callJob(run, call, isAlone && bound.items.length === 1));
      return callText(stepRun, call, called);
    });
  });
  const [first] = results.flatMap((result) => (isAbsent(result) ? [] : [result]));
  // The job's id has been known since its submission.
  if (first) {
    run.requestId ??= first.requestId;
    run.node(step.id).requestId ??= first.requestId;
  }
  for (const [port, value] of modelOutputs(step, results, bound)) run.give(step.id, port, value);
};

const callHttp = async (stepRun: StepRun): Promise<void> => {
  const { run, step, batches, isAlone } = stepRun;
  const { alias, workflowSlug } = stepRun.input;
  const workflow = step.secrets ? (step.innerWorkflow ?? workflowSlug) : null;
  const bound = run.bind(step);
  const callOf = (item: Item, context: CallContext): HttpNodeCall => ({
    ...context,
    call: run.inputs.ofRequest(step, item),
    ...(alias === undefined ? {} : { alias }),
    ...(workflow === null ? {} : { workflow }),
  });
  const reused = await reuseCalls(stepRun, bound, callOf);
  const answers = await callBound(stepRun, bound, async (item, context, index) => {
    const one = reused?.[index];
    if (one) return one.outputs as unknown as HttpResult;
    const call = callOf(item, context);
    await batches.take(call);
    const summary = plainSummary(`${step.id}: http request`);
    const answer = await shortly(
      isAlone && bound.items.length === 1,
      () => shortHttpRequest.executeWithOptions({ summary }, [call]),
      () => httpRequest.executeWithOptions({ summary }, [call]),
    );
    run.itemDone(step.id);
    return answer;
  });
  for (const [port, value] of httpOutputs(answers, bound)) run.give(step.id, port, value);
};

const callTransform = async (stepRun: StepRun): Promise<void> => {
  const { run, input, step, batches } = stepRun;
  const bound = run.bind(step);
  const operation = step.operation!;
  const { authorFiles } = input.plan;
  const callOf = (item: Item, context: CallContext): TransformCall => ({
    ...context,
    operation,
    inputs: run.inputs.ofCall(step, item),
    ...(authorFiles ? { authorFiles } : {}),
    ...(input.provenance ? { provenance: input.provenance } : {}),
  });
  const reused = await reuseCalls(stepRun, bound, callOf);
  const results = await callBound(stepRun, bound, async (item, context, index) => {
    const one = reused?.[index];
    if (one) return resultOfOutputs(one.outputs).files;
    const call = callOf(item, context);
    await batches.take(call);
    const transformResult = await runTransform.executeWithOptions({ summary: plainSummary(`${step.id}: ${operation}`) }, [call]);
    const { files, warnings } = Array.isArray(transformResult) ? { files: transformResult, warnings: [] } : transformResult;
    run.callWarned(step.id, warnings);
    run.itemDone(step.id);
    return files;
  });
  for (const [port, value] of transformOutputs(operation, results, bound)) run.give(step.id, port, value);
};

/** Waits until a person chooses the port of the value. */
const awaitApproval = async ({ run, step, approvals }: StepRun): Promise<void> => {
  const value = run.madeOf(step);
  // Items that were left out keep their positions in the value, but the reviewer doesn't see them.
  const decided = await approvals.await(step, run.node(step.id).label, withoutAbsent(value), !run.hidesOutputs);
  run.decide(step, decided.isApproved, decided.changed ?? { value });
};

export const runStep = async (stepStart: Omit<StepRun, "context">): Promise<void> => {
  const { run, input, step } = stepStart;
  const { executionId, userId, retentionDays, workflowSlug } = input;
  // Texts of a graph that its user can't read, and of a run with a retention of 0 days, aren't stored with its files.
  const isFindable = !run.hidesOutputs && retentionDays !== 0;
  const nodeIndex = run.indexOf(step.id);
  const { label } = run.node(step.id);
  const startedAt = Date.now();
  const context: StepRun["context"] = (item, items) => ({
    executionId,
    userId,
    ...(run.hidesOutputs ? { ownerId: innerOwner(userId) } : {}),
    nodeId: step.id,
    ...(label === undefined ? {} : { label }),
    nodeIndex,
    item,
    items,
    startedAt,
    key: `${executionId}:${step.id}:${item}`,
    ...(isFindable ? { findableIn: workflowSlug ?? "" } : {}),
  });
  const stepRun: StepRun = { ...stepStart, context };
  run.start(step, startedAt);
  if (step.model !== undefined) await callModel(stepRun);
  else if (callsHttp(step.type)) await callHttp(stepRun);
  else if (callsTransform(step.type)) await callTransform(stepRun);
  else if (makesResult(step.type)) await keepFiles(stepRun);
  else if (waitsForDecision(step.type)) await awaitApproval(stepRun);
  else run.evaluate(step);
  run.complete(step.id, Date.now());
};

/** Reuses calls of earlier runs in a rerun. */

type CallOf = (item: Record<string, unknown>, context: CallContext) => ModelCall | HttpNodeCall | TransformCall;

/**
 * Returns one entry for each call of a step, in item order: the reusable result, or null for a call to make. Returns undefined if all calls
 * must be made.
 */
export const reuseCalls = async (
  { run, input, step, context }: StepRun,
  bound: Bound,
  callOf: CallOf,
): Promise<(ReusedResult | null)[] | undefined> => {
  const { reuse } = input;
  if (!reuse || reuse.again.includes(step.id)) return undefined;
  if (callsHttp(step.type) && !reuse.requests.includes(step.id)) return undefined;
  const { items } = bound;
  const calls = run.inputs.uncounted(() => items.map((item, index) => callOf(item, context(placeOf(bound, index), items.length))));
  const reused = await takeOver({ sources: reuse.sources, calls });
  for (const one of reused) if (one) run.itemDone(step.id);
  if (reused.length === 1 && reused[0]) run.node(step.id).reusedFrom = reused[0].from;
  return reused;
};

/** Extends the hold for calls of a rerun that were expected to be reused. */
export const holdMade = async (stepRun: StepRun, bound: Bound, reused: readonly (ReusedResult | null)[] = []): Promise<void> => {
  const { run, input, step } = stepRun;
  const heldKeys = new Set([...input.held, ...run.extended].map(({ key }) => key));
  const newHolds = bound.items.flatMap((_, index) => (reused[index] ? [] : itemHolds(step, placeOf(bound, index))));
  // If the node's own model is free, the hold covers only fallbacks.
  const unheld = newHolds.filter(
    ({ key, alternativeTo = key, maxMillicredits }) => maxMillicredits > 0 && !heldKeys.has(key) && !heldKeys.has(alternativeTo),
  );
  if (unheld.length > 0) await extend(stepRun, unheld);
};
