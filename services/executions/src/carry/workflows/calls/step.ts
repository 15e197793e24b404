import { callsHttp, callsTransform, makesResult } from "@nodeloom/kernel/graph";
import type { HttpNodeCall, HttpResult, ModelCall, TransformCall } from "../../../run/calls";
import { httpOutputs, modelOutputs, resultOfOutputs, transformOutputs } from "../../../run/outputs";
import { httpRequest, runTransform, shortHttpRequest } from "../steps";
import { keepFiles } from "./keep-files";
import { callFiles, callJob, callText, fitting, holdMore } from "./models";
import { holdMade, takeOverCalls } from "./reuse";
import { callItems, plainSummary, shortly, type StepRun } from "./schedule";

/** One step of a run: its calls, and what they give. */

const callModel = async (stepRun: StepRun): Promise<void> => {
  const { run, input, step, context, batches, isAlone } = stepRun;
  const { items, mapped } = run.bind(step);
  const model = step.model!;
  const { providerKind, price } = input.plan.models[model]!;
  const authorFiles = input.plan.authorFiles;
  const callOf = (item: Record<string, unknown>, index: number): ModelCall => ({
    ...context(index, items.length),
    model,
    inputs: run.callInputs(step, item),
    price,
    ...(authorFiles ? { authorFiles } : {}),
    ...(input.provenance ? { provenance: input.provenance } : {}),
    ...(step.answer ? { schema: step.answer.schema } : {}),
  });
  const earlier = await takeOverCalls(stepRun, () => items.map(callOf));
  await (input.reuse ? holdMade(stepRun, items.length, earlier?.taken) : holdMore(stepRun, items.length));
  const results = await callItems(items, async (item, index) => {
    const taken = earlier?.taken[index];
    if (taken) return resultOfOutputs(taken.outputs);
    const call = earlier?.calls[index] ?? callOf(item, index);
    await batches.take(call);
    if (providerKind === "direct-http") return fitting(call, await callFiles(run, call));
    if (providerKind !== "llm") return fitting(call, await callJob(run, call, isAlone && items.length === 1));
    return callText(stepRun, call);
  });
  const [first] = results;
  // A job's id is known since it was submitted.
  if (first) {
    run.requestId ??= first.requestId;
    run.node(step.id).requestId ??= first.requestId;
  }
  for (const [port, value] of modelOutputs(step, results, mapped)) run.give(step.id, port, value);
};

const callHttp = async (stepRun: StepRun): Promise<void> => {
  const { run, step, context, batches, isAlone } = stepRun;
  const { items, mapped } = run.bind(step);
  const callOf = (item: Record<string, unknown>, index: number): HttpNodeCall => ({
    ...context(index, items.length),
    call: run.httpCall(step, item),
  });
  const earlier = await takeOverCalls(stepRun, () => items.map(callOf));
  const answers = await callItems(items, async (item, index) => {
    const taken = earlier?.taken[index];
    if (taken) return taken.outputs as unknown as HttpResult;
    const call = earlier?.calls[index] ?? callOf(item, index);
    await batches.take(call);
    const summary = plainSummary(`${step.id}: http request`);
    const answer = await shortly(
      isAlone && items.length === 1,
      () => shortHttpRequest.executeWithOptions({ summary }, [call]),
      () => httpRequest.executeWithOptions({ summary }, [call]),
    );
    run.itemDone(step.id);
    return answer;
  });
  for (const [port, value] of httpOutputs(answers, mapped)) run.give(step.id, port, value);
};

const callTransform = async (stepRun: StepRun): Promise<void> => {
  const { run, input, step, context, batches } = stepRun;
  const { items, mapped } = run.bind(step);
  const operation = step.operation!;
  const { authorFiles } = input.plan;
  const callOf = (item: Record<string, unknown>, index: number): TransformCall => ({
    ...context(index, items.length),
    operation,
    inputs: run.callInputs(step, item),
    ...(authorFiles ? { authorFiles } : {}),
    ...(input.provenance ? { provenance: input.provenance } : {}),
  });
  const earlier = await takeOverCalls(stepRun, () => items.map(callOf));
  const results = await callItems(items, async (item, index) => {
    const taken = earlier?.taken[index];
    if (taken) return resultOfOutputs(taken.outputs).files;
    const call = earlier?.calls[index] ?? callOf(item, index);
    await batches.take(call);
    const files = await runTransform.executeWithOptions({ summary: plainSummary(`${step.id}: ${operation}`) }, [call]);
    run.itemDone(step.id);
    return files;
  });
  for (const [port, value] of transformOutputs(operation, results, mapped)) run.give(step.id, port, value);
};

/** Runs one step to its end and stores its outputs. */
export const runStep = async (begun: Omit<StepRun, "context">): Promise<void> => {
  const { run, input, step } = begun;
  const { executionId, userId } = input;
  const nodeIndex = run.indexOf(step.id);
  const { label } = run.node(step.id);
  const startedAt = Date.now();
  const context: StepRun["context"] = (item, items) => ({
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
  const stepRun: StepRun = { ...begun, context };
  run.start(step, startedAt);
  if (step.model !== undefined) await callModel(stepRun);
  else if (callsHttp(step.type)) await callHttp(stepRun);
  else if (callsTransform(step.type)) await callTransform(stepRun);
  else if (makesResult(step.type)) await keepFiles(stepRun);
  else run.evaluate(step);
  run.complete(step.id, Date.now());
};
