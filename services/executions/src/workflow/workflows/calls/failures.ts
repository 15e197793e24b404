/** What a failed call says of its node, its job and its run. */
import { ApplicationFailure, ActivityFailure, isCancellation, TimeoutFailure } from "@temporalio/workflow";
import type { Reason } from "@nodeloom/kernel";
import { BoundPassed, nodeName, type BindError } from "@nodeloom/kernel/graph";
import type { StepFailure } from "../../../run/calls";
import { RUN_CANCELLED, type NodeState, type RunError, type RunInput } from "../../../run/types";

/** Why a call failed: the failure of an activity carries it; that of a call in the workflow task is it. */
export const causeOf = (error: unknown): unknown => (error instanceof ActivityFailure ? error.cause : error);

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
  const said = `node ${nodeName(nodeId, label)}: `;
  const open = isBindError(error) ? error.publicMessage : undefined;
  return {
    code: "EXECUTION_FAILED",
    message: said + describe(error),
    ...(open === undefined ? {} : { publicMessage: said + open }),
    nodeId,
  };
};

/** True if a step ended because its run is being cancelled: as the workflow knows it, or as an activity found it first. */
export const isRunCancelled = (error: unknown): boolean => {
  const cause = causeOf(error);
  return isCancellation(error) || (cause instanceof ApplicationFailure && cause.type === RUN_CANCELLED);
};

const isTimeout = (error: ActivityFailure): boolean => error.cause instanceof TimeoutFailure;

const isBindError = (error: unknown): error is BindError => error instanceof Error && error.name === "BindError";

const describe = (error: unknown): string => {
  if (isBindError(error)) return error.message;
  if (!(error instanceof ActivityFailure)) return "the provider did not finish in time";
  // What is sent once is tried again only while it certainly did not arrive.
  const neverArrived = error.activityType === "submit" || (error.activityType === "runFiles" && !isTimeout(error));
  return neverArrived ? "the provider could not be reached" : "the provider did not finish in time";
};

/** What an activity said of its failure besides the error. */
const said = (error: unknown): StepFailure => {
  const cause = causeOf(error);
  const [, failure] = ((cause instanceof ApplicationFailure && cause.details) || []) as [unknown, StepFailure?];
  return failure ?? {};
};

/** True if an activity said that its job may go on at the provider. */
export const saidJobMayRun = (error: unknown): boolean => said(error).jobMayRun === true;

/** True if another model may be called in place of the one that failed. */
export const mayTryAnother = (error: unknown): boolean => said(error).mayTryAnother === true;

/** What a call cost whose output moderation refused: it is charged. */
export const refusedCost = (error: unknown): number | undefined => said(error).refused?.costMicroUsd;

/** As the kernel's `isShortOfCredits`, of which workflows have the graph alone. */
const MONEY_IS_SHORT: ReadonlySet<string> = new Set<Reason>(["INSUFFICIENT_CREDITS", "grant_exhausted", "BUDGET_EXCEEDED"]);

/** True if a failure is one of an item, and not of its run: a bound that was passed, or credits that are short. */
export const isOfItem = (error: unknown): boolean => {
  const cause = causeOf(error);
  const code = cause instanceof ApplicationFailure ? (cause.details?.[0] as Partial<RunError> | undefined)?.code : undefined;
  return !isRunCancelled(error) && !(error instanceof BoundPassed) && !(code !== undefined && MONEY_IS_SHORT.has(code));
};

/** True if a step ended while its job may go on: it was cancelled, its time is over, or its provider fell silent. */
export const jobMayRun = (error: unknown): boolean =>
  isRunCancelled(error) || (error instanceof ActivityFailure && isTimeout(error)) || saidJobMayRun(error);
