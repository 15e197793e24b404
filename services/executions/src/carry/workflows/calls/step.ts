import {
  callsHttp,
  callsTransform,
  collect,
  JSON_PORT,
  makesResult,
  mediaOperation,
  mediaOutput,
  outputPort,
} from "@nodeloom/kernel/graph";
import type { ModelCall, TransformCall } from "../../../run/calls";
import { httpRequest, runTransform, shortHttpRequest } from "../steps";
import { keepFiles } from "./keep-files";
import { callFiles, callJob, callText, fitting, holdMore } from "./models";
import { callItems, plainSummary, shortly, type StepRun } from "./schedule";

/** One step of a run: its calls, and what they give. */

const callModel = async (stepRun: StepRun): Promise<void> => {
  const { run, input, step, context, batches, isAlone } = stepRun;
  const { items, mapped } = run.bind(step);
  const model = step.model!;
  const { providerKind, modality, price } = input.plan.models[model]!;
  const authorFiles = input.plan.authorFiles;
  const isText = modality === "text";
  await holdMore(stepRun, items.length);
  const results = await callItems(items, async (item, index) => {
    const call: ModelCall = {
      ...context(index, items.length),
      model,
      inputs: run.callInputs(step, item),
      price,
      ...(authorFiles ? { authorFiles } : {}),
      ...(input.provenance ? { provenance: input.provenance } : {}),
      ...(step.answer ? { schema: step.answer.schema } : {}),
    };
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
  const values = results.map(({ text, files }) => (isText ? text : mediaOutput(files)));
  run.give(step.id, outputPort(step.type), collect(values, mapped));
  if (!step.answer && results.every(({ json }) => json === undefined)) return;
  const parsed = results.map(({ json }) => json?.value);
  run.give(step.id, JSON_PORT, collect(parsed, mapped));
};

const callHttp = async ({ run, step, context, batches, isAlone }: StepRun): Promise<void> => {
  const { items, mapped } = run.bind(step);
  const answers = await callItems(items, async (item, index) => {
    const call = { ...context(index, items.length), call: run.httpCall(step, item) };
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
  for (const port of ["body", "status"] as const)
    run.give(step.id, port, mapped ? answers.map((answer) => answer[port]) : answers[0]?.[port]);
};

const callTransform = async ({ run, input, step, context, batches }: StepRun): Promise<void> => {
  const { items, mapped } = run.bind(step);
  const operation = step.operation!;
  const { authorFiles } = input.plan;
  const results = await callItems(items, async (item, index) => {
    const call: TransformCall = {
      ...context(index, items.length),
      operation,
      inputs: run.callInputs(step, item),
      ...(authorFiles ? { authorFiles } : {}),
      ...(input.provenance ? { provenance: input.provenance } : {}),
    };
    await batches.take(call);
    const files = await runTransform.executeWithOptions({ summary: plainSummary(`${step.id}: ${operation}`) }, [call]);
    run.itemDone(step.id);
    return files;
  });
  run.give(step.id, mediaOperation(operation)?.output ?? "", collect(results.map(mediaOutput), mapped));
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
