import { CancellationScope } from "@temporalio/workflow";
import { authorFilesOf, callsHttp, makesResult, type PlanStep } from "@nodeloom/kernel/graph";
import type { ModelCall } from "../../../contract/activity-types";
import type { CallContext, RunInput } from "../../../contract/run-types";
import { isRunCancelled } from "./failures";
import { callFiles, callJob } from "./media";
import { callText } from "./text";
import { holdMore } from "./extend";
import { giveAnswers, giveResults } from "../given";
import type { GraphRun } from "../graph-run";
import { keepFiles } from "./keep-files";
import { httpRequest, shortHttpRequest } from "../steps";
import { onlyIf, shortly, type CallManner } from "./short";
import { plainSummary } from "./summary";
import type { Waves } from "./waves";

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
  manner: CallManner,
): Promise<void> => {
  const { items, mapped } = run.bind(step);
  const model = step.model!;
  const { providerKind, modality, price } = input.plan.models[model]!;
  const authorFiles = authorFilesOf(input.plan);
  const isText = modality === "text";
  const isJob = !isText && providerKind !== "direct";
  const own = onlyIf(manner, isJob && items.length === 1);
  if (!own.isAlone && !manner.claim.isMade()) await manner.claim.need();
  await holdMore(run, input, step, items.length);
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
    if (isJob) return callJob(run, call, own);
    if (providerKind === "direct") return callFiles(run, call);
    return callText({ run, input, step, waves }, call);
  });
  const [first] = results;
  // A job's id is known since it was submitted.
  if (first) {
    run.requestId ??= first.requestId;
    run.node(step.id).requestId ??= first.requestId;
  }
  giveResults(run, step, results, isText, mapped);
};

const callHttp = async (run: GraphRun, step: PlanStep, context: ContextOf, waves: Waves | undefined, manner: CallManner): Promise<void> => {
  const { items, mapped } = run.bind(step);
  const answers = await callItems(items, async (item, index) => {
    const call = { ...context(index, items.length), call: run.httpCall(step, item) };
    if (waves) await waves.take(call);
    const summary = plainSummary(`${step.id}: http request`);
    const answer = await shortly(
      onlyIf(manner, items.length === 1),
      (claim) => shortHttpRequest.executeWithOptions({ summary }, [call, ...claim]),
      () => httpRequest.executeWithOptions({ summary }, [call]),
    );
    run.itemDone(step.id);
    return answer;
  });
  giveAnswers(run, step, answers, mapped);
};

/** Runs one step to its end and stores its outputs. */
export const runStep = async (
  run: GraphRun,
  input: RunInput,
  step: PlanStep,
  waves: Waves | undefined,
  manner: CallManner,
): Promise<void> => {
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
  if (step.model !== undefined) await callModel(run, input, step, context, waves, manner);
  else if (callsHttp(step.type)) await callHttp(run, step, context, waves, manner);
  else if (makesResult(step.type)) await keepFiles(step, { run, plan: input.plan, context, callItems, waves, manner });
  else run.evaluate(step);
  run.complete(step.id, Date.now());
};
