import { callsHttp, makesResult } from "@nodeloom/kernel/graph";
import type { ModelCall } from "../../../run/calls";
import { callFiles, callJob } from "./media";
import { callText } from "./text";
import { holdMore } from "./extend";
import { giveAnswers, giveResults } from "../../../run/call-results";
import { keepFiles } from "./keep-files";
import { httpRequest, shortHttpRequest } from "../steps";
import { shortly } from "./short";
import { callItems, type StepRun } from "./step-run";
import { plainSummary } from "./summary";

const callModel = async (stepRun: StepRun): Promise<void> => {
  const { run, input, step, context, batches, isAlone } = stepRun;
  const { items, mapped } = run.bind(step);
  const model = step.model!;
  const { providerKind, modality, price } = input.plan.models[model]!;
  const authorFiles = input.plan.authorFiles;
  const isText = modality === "text";
  const isJob = !isText && providerKind !== "direct";
  await holdMore(stepRun, items.length);
  const results = await callItems(items, async (item, index) => {
    const call: ModelCall = {
      ...context(index, items.length),
      model,
      inputs: run.callInputs(step, item),
      price,
      ...(authorFiles ? { authorFiles } : {}),
      ...(step.answer ? { schema: step.answer.schema } : {}),
    };
    await batches.take(call);
    if (isJob) return callJob(run, call, isAlone && items.length === 1);
    if (providerKind === "direct") return callFiles(run, call);
    return callText(stepRun, call);
  });
  const [first] = results;
  // A job's id is known since it was submitted.
  if (first) {
    run.requestId ??= first.requestId;
    run.node(step.id).requestId ??= first.requestId;
  }
  giveResults(run, step, results, isText, mapped);
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
  giveAnswers(run, step, answers, mapped);
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
  else if (makesResult(step.type)) await keepFiles(stepRun);
  else run.evaluate(step);
  run.complete(step.id, Date.now());
};
