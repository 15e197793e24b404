import { ApplicationFailure, ActivityFailure, isCancellation, TimeoutFailure } from "@temporalio/workflow";
import type { Reason } from "@nodeloom/kernel";
import { BoundPassed, nodeName, type BindError } from "@nodeloom/kernel/graph";
import type { ProviderError } from "@nodeloom/providers";
import type { StepFailure } from "../../../run/calls";
import { RUN_CANCELLED, type NodeState, type RunError, type RunInput } from "../../../run/types";

/** Returns the cause of a failure: the wrapped cause of an activity, or the error itself of a call in the workflow task. */
export const causeOf = (error: unknown): unknown => (error instanceof ActivityFailure ? error.cause : error);

const PROVIDER_ERROR = "ProviderError" satisfies ProviderError["name"];

/** A value with the wrong type comes from the run's inputs. An activity can end with the provider's error from its last attempt. */
const faultOf = (error: unknown): Pick<RunError, "fault"> => {
  if (isBindError(error)) return { fault: "input" };
  const cause = causeOf(error);
  return cause instanceof ApplicationFailure && cause.type === PROVIDER_ERROR ? { fault: "provider" } : {};
};

/**
 * Returns the error of a failed activity in the form that the run records. A rejected submission has its own code only if the caller waits
 * for the submission.
 */
export const runError = (error: unknown, { id: nodeId, label }: NodeState, mode: RunInput["mode"]): RunError => {
  const cause = causeOf(error);
  if (cause instanceof ApplicationFailure) {
    const [details] = (cause.details ?? []) as [RunError?];
    const code = details?.code === "PROVIDER_SUBMIT_FAILED" && mode === "sync" ? "EXECUTION_FAILED" : details?.code;
    if (details && code) return { ...details, code, nodeId };
  }
  const prefix = `node ${nodeName(nodeId, label)}: `;
  const open = isBindError(error) ? error.publicMessage : undefined;
  return {
    code: "EXECUTION_FAILED",
    message: prefix + describe(error),
    ...(open === undefined ? {} : { publicMessage: prefix + open }),
    ...faultOf(error),
    nodeId,
  };
};

/** True if a step ended because its run is being cancelled. The workflow or an activity can notice the cancellation first. */
export const isRunCancelled = (error: unknown): boolean => {
  const cause = causeOf(error);
  return isCancellation(error) || (cause instanceof ApplicationFailure && cause.type === RUN_CANCELLED);
};

const isTimeout = (error: ActivityFailure): boolean => error.cause instanceof TimeoutFailure;

const isBindError = (error: unknown): error is BindError => error instanceof Error && error.name === "BindError";

const describe = (error: unknown): string => {
  if (isBindError(error)) return error.message;
  if (!(error instanceof ActivityFailure)) return "the provider did not finish in time";
  // An unrepeatable request is retried only if it certainly didn't reach the provider.
  const neverArrived = error.activityType === "submit" || (error.activityType === "runFiles" && !isTimeout(error));
  return neverArrived ? "the provider could not be reached" : "the provider did not finish in time";
};

/** Returns the details that an activity attached to its failure. */
const failureOf = (error: unknown): StepFailure => {
  const cause = causeOf(error);
  const [, failure] = ((cause instanceof ApplicationFailure && cause.details) || []) as [unknown, StepFailure?];
  return failure ?? {};
};

/** True if the job may still run at the provider. */
export const saidJobMayRun = (error: unknown): boolean => failureOf(error).jobMayRun === true;

/** True if a fallback can be called. */
export const mayTryAnother = (error: unknown): boolean => failureOf(error).mayTryAnother === true;

/** Cost of a call whose output moderation refused. The call is still charged. */
export const refusedCost = (error: unknown): number | undefined => failureOf(error).refused?.costMicroUsd;

/** Copy of the kernel's `isShortOfCredits`, because workflows import only the kernel's graph. */
const MONEY_IS_SHORT: ReadonlySet<string> = new Set<Reason>(["INSUFFICIENT_CREDITS", "grant_exhausted", "BUDGET_EXCEEDED"]);

/** True if only the item failed. Exceeded limits and missing credits fail the whole run. */
export const isOfItem = (error: unknown): boolean => {
  const cause = causeOf(error);
  const code = cause instanceof ApplicationFailure ? (cause.details?.[0] as Partial<RunError> | undefined)?.code : undefined;
  return !isRunCancelled(error) && !(error instanceof BoundPassed) && !(code !== undefined && MONEY_IS_SHORT.has(code));
};

/** True if a step ended while its job may still run: it was cancelled, it timed out, or its provider stopped responding. */
export const jobMayRun = (error: unknown): boolean =>
  isRunCancelled(error) || (error instanceof ActivityFailure && isTimeout(error)) || saidJobMayRun(error);
