import { activityInfo, ApplicationFailure } from "@temporalio/activity";
import { DomainError, isRefusal, isShortOfCredits, isUnavailable, nodeName } from "@nodeloom/kernel";
import { doubling, isDatabaseAway, retry } from "@nodeloom/platform";
import { mayHaveArrived, type TryAgain } from "../calls/failures";
import type { ExtendInput } from "./activity-types";
import type { FileToKeep, HttpNodeCall, ModelCall, StepFailure, TransformCall } from "../run/calls";
import { RUN_CANCELLED, type RunError } from "../run/types";
import { ATTEMPTS, TIMING } from "../run/timing";

/** What steps of runs have in common as activities: what is tried again, what ends them, and as what. */

export type NodeCall = ModelCall | HttpNodeCall | FileToKeep | TransformCall;

/** Services and databases of ours that are away come back. */
const areWeAway = (error: unknown): boolean => isUnavailable(error) || isDatabaseAway(error);

/** Errors of this kind pass: the activity is tried again. What surprised a service of ours is, for a while. */
export const isTransient = (error: unknown): boolean =>
  !(error instanceof DomainError) || isUnavailable(error) || (error.kind === "internal" && activityInfo().attempt < ATTEMPTS.surprise);

/** Pauses before work is tried again that needs what is away. */
const FIRST_PAUSE_MS = 200;
const LONGEST_PAUSE_MS = 5_000;
/** The share of an attempt's time in which it waits for what is away: the rest is for the work. */
const WAITING_SHARE = 1 / 3;

/**
 * Waits for services and databases of ours that are away, instead of using up an attempt: no run fails because we were
 * killed. What waits has changed nothing yet, or does no harm when it is done again.
 */
export const retryWhileUnavailable = <T>(signal: AbortSignal, work: () => Promise<T>): Promise<T> =>
  retry(work, {
    pausesMs: doubling(FIRST_PAUSE_MS, LONGEST_PAUSE_MS),
    shouldRetry: areWeAway,
    signal,
    until: Date.now() + Math.min(activityInfo().startToCloseTimeoutMs * WAITING_SHARE, TIMING.servicesAway),
  });

/** Requests and files that the graph names, whose failures quote it. */
const isOfAddress = (call: NodeCall): boolean => "call" in call || "reference" in call;
/** A provider may repeat an address that it was sent. */
const ADDRESS = "://";

/** What those who can't read the graph are told of a failed call, where its message is not for them. */
const publicMessage = ({ message, metadata }: DomainError, call: NodeCall): Pick<RunError, "publicMessage"> => {
  const { quotesAddress = false } = metadata as StepFailure;
  if (!quotesAddress && !isOfAddress(call) && !message.includes(ADDRESS)) return {};
  const model = "model" in call ? `${call.model}: ` : "";
  return { publicMessage: `node ${nodeName(call.nodeId, call.label)}: ${model}its call failed; the workflow's author can read why` };
};

/** The error of a failed call as the run records it; of a fan-out it names the item. */
export const runErrorOf = (error: DomainError, call: NodeCall): RunError => {
  const { nodeId, label, item, items } = call;
  const { providerStatus, providerBody } = error.metadata as { providerStatus?: number; providerBody?: string };
  return {
    code: error.kind === "failed" ? error.reason : "EXECUTION_FAILED",
    message: `node ${nodeName(nodeId, label)}: ${error.message}`,
    ...publicMessage(error, call),
    nodeId,
    ...(items > 1 ? { item } : {}),
    ...(providerStatus === undefined ? {} : { providerStatus }),
    ...(providerBody === undefined ? {} : { providerBody }),
  };
};

/** Why a call that was stopped gives nothing, though it had finished. */
export const refusalError = (call: NodeCall, message = "its output was refused"): RunError =>
  runErrorOf(new DomainError("failed", "CONTENT_REFUSED", message), call);

/** A failure after which Temporal waits as long as the provider asked to. */
export const laterOf = ({ problem, afterMs }: TryAgain, call: NodeCall): ApplicationFailure => {
  const { message, ...rest } = runErrorOf(problem, call);
  return ApplicationFailure.create({ message, type: rest.code, details: [{ message, ...rest }], nextRetryDelay: afterMs });
};

/** What ends a call whose run is being cancelled, when this process knows before Temporal has said so. */
export const cancelledFailure = (error: unknown): ApplicationFailure =>
  ApplicationFailure.nonRetryable("the run is being cancelled", RUN_CANCELLED, null, {
    jobMayRun: mayHaveArrived(error),
  } satisfies StepFailure);

export const cancelKey = ({ key }: NodeCall): string => `cancel:${key}`;

/**
 * When the turn must have come of a call that is too many for its user's budget: counted from its node's start, whether it is
 * made in the workflow task, by an activity, or by the one after the other.
 */
export const outgoingUntil = ({ startedAt }: NodeCall): number => startedAt + TIMING.outgoingWait;

/**
 * A short step in the workflow task: it is tried again while what it needs is away, for as long as its run may last. What
 * can't pass ends it: a refusal at once, a fault of ours after a few attempts.
 */
export const local = async <T>(work: () => Promise<T>): Promise<T> => {
  try {
    return await work();
  } catch (error) {
    if (error instanceof ApplicationFailure || areWeAway(error)) throw error;
    const isFault = !(error instanceof DomainError) || error.kind === "internal";
    if (isFault && activityInfo().attempt < ATTEMPTS.surprise) throw error;
    const { message } = error instanceof Error ? error : { message: String(error) };
    throw ApplicationFailure.nonRetryable(message, error instanceof DomainError ? error.reason : "INTERNAL");
  }
};

/** A refused extension ends its node with the refusal's code. */
export const extended = async <T>({ nodeId, label }: ExtendInput, work: () => Promise<T>): Promise<T> => {
  try {
    return await work();
  } catch (error) {
    if (!isRefusal(error)) throw error;
    const message = `node ${nodeName(nodeId, label)}: ${error.message}`;
    const problem: RunError = { code: isShortOfCredits(error.reason) ? error.reason : "EXECUTION_FAILED", message, nodeId };
    throw ApplicationFailure.nonRetryable(message, problem.code, problem);
  }
};
