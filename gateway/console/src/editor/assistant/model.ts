import { NodeloomError, type Execution, type Model } from "@nodeloom/client";
import { api, codeOf, request } from "../../api/client";
import { ASSISTANT } from "../../messages/editor/assistant";
import { credits } from "../../ui/format";
import { CeilingReached, type ModelAnswer } from "./loop";
import type { Purse } from "./purse";
import { answerIn, inputsOf, type Question } from "./question";

/** The chat model of the assistant, run like any other model: with the user's session, for credits, within `maxCredits`. */

const PREFER = { prefer: "respond-async, wait=0" };
/** Time in which the end of a cancelled run is expected. */
const CANCEL_MS = 15_000;
const POLL_MS = 500;

/** Waits for the end of a run. If the signal aborts, the run is cancelled first. @throws NodeloomError if the end isn't known */
export const endOfRun = async (executionId: string, signal: AbortSignal): Promise<Execution> => {
  try {
    // The stream of events ends with the run; if it breaks, polls go on.
    for await (const event of api.events(executionId, { signal })) if (event.type === "execution.waiting") break;
    const execution = await api.executions.get(executionId, { signal });
    // A run that waits for a person doesn't end soon.
    if ((execution.waitingFor?.length ?? 0) > 0) return execution;
    return await api.wait(executionId, { signal, pollIntervalMs: POLL_MS });
  } catch (error) {
    if (!signal.aborted) throw error;
    await api.cancel(executionId).catch(() => undefined);
    return api.wait(executionId, { signal: AbortSignal.timeout(CANCEL_MS), pollIntervalMs: POLL_MS });
  }
};

/** @returns the execution's id, also if the run failed at once. @throws NodeloomError if no run was started */
const start = async (model: Model, inputs: Record<string, unknown>, maxCredits: number, signal: AbortSignal): Promise<string> => {
  const params = { internalName: model.internalName };
  const runRequest = { params, body: { inputs, maxCredits }, headers: PREFER, idempotencyKey: crypto.randomUUID(), signal };
  try {
    const { body, headers } = await request("runModel", runRequest);
    return headers.get("x-execution-id") ?? ("executionId" in body ? body.executionId : "");
  } catch (error) {
    if (error instanceof NodeloomError && error.executionId !== undefined) return error.executionId;
    throw error;
  }
};

/** The price of a call that the ceiling doesn't allow, if the error says it. */
const ceilingError = (error: NodeloomError, left: number): CeilingReached => {
  const { requiredCredits } = error.details;
  return new CeilingReached(ASSISTANT.nextCall(typeof requiredCredits === "number" ? credits(requiredCredits) : undefined, credits(left)));
};

/**
 * Asks the model within the ceiling.
 * @throws CeilingReached if the call could cost more than is left; NodeloomError if the run was rejected or failed
 */
export const askModel = async (question: Question, purse: Purse, signal: AbortSignal): Promise<ModelAnswer> => {
  const left = purse.left();
  const settle = purse.reserve(left);
  let executionId: string | undefined;
  try {
    executionId = await start(question.model, inputsOf(question), left, signal);
    const execution = await endOfRun(executionId, signal);
    settle(execution.creditsCost);
    signal.throwIfAborted();
    if (execution.status !== "completed") throw new Error(execution.error?.message ?? ASSISTANT.noAnswer);
    return answerIn(execution.result);
  } catch (error) {
    if (executionId === undefined && error instanceof NodeloomError && error.status > 0) {
      settle(0);
      if (codeOf(error) === "INSUFFICIENT_CREDITS" && error.details.maxCredits !== undefined) throw ceilingError(error, left);
    }
    throw error;
  } finally {
    settle();
  }
};
