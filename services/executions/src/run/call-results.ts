import { collect, itemKey, JSON_PORT, mediaOutput, outputPort, type PlanStep } from "@nodeloom/kernel/graph";
import type { HttpResult } from "./calls";
import type { CallContext, CallResult } from "./types";
import type { GraphRun } from "./graph-run";

/** What the calls of a step gave, as their run keeps it. */

/** One call of a model is done. */
export const giveCall = (run: GraphRun, call: CallContext, result: CallResult): CallResult => {
  run.callCompleted(call, result.costMicroUsd);
  run.itemDone(call.nodeId);
  return result;
};

/** A job was submitted under this name. A node has the name of its first item. */
export const giveJob = (run: GraphRun, call: CallContext, requestId: string): void => {
  run.requestId ??= requestId;
  if (call.item === 0) run.node(call.nodeId).requestId ??= requestId;
  run.submitted.add(itemKey(call.nodeId, call.item));
};

/** @throws BindError when the run's values outgrow their bound, as does what follows */
export const giveResults = (run: GraphRun, step: PlanStep, results: readonly CallResult[], isText: boolean, mapped: boolean): void => {
  const values = results.map((result) => (isText ? result.text : mediaOutput(result.files)));
  run.give(step.id, outputPort(step.type), collect(values, mapped));
  if (!step.answer) return;
  const parsed = results.map(({ json }) => json?.value);
  run.give(step.id, JSON_PORT, collect(parsed, mapped));
};

export const giveAnswers = (run: GraphRun, step: PlanStep, answers: readonly HttpResult[], mapped: boolean): void => {
  run.give(step.id, "body", mapped ? answers.map(({ body }) => body) : answers[0]?.body);
  run.give(step.id, "status", mapped ? answers.map(({ status }) => status) : answers[0]?.status);
};
