import { activityInfo, ApplicationFailure } from "@temporalio/activity";
import { DomainError, isRefusal, isShortOfCredits, isUnavailable, nodeName } from "@nodeloom/kernel";
import { doubling, isDatabaseUnavailable, retry, type OutgoingUser, type OverBudget, type TakeOutgoing } from "@nodeloom/platform";
import { mayHaveArrived, TryAgain, QUOTES_ADDRESS } from "../calls/failures";
import type { ExtendInput } from "./activity-types";
import type { FileToKeep, HttpNodeCall, ModelCall, StepFailure, TransformCall } from "../run/calls";
import { RUN_CANCELLED, type RunError } from "../run/types";
import { ATTEMPTS, TIMING } from "../run/timing";
import { countOutgoingWait } from "../meters";

/** Common behavior of activities: retries, final failures and their form. */

export type NodeCall = ModelCall | HttpNodeCall | FileToKeep | TransformCall;

/** True if one of the platform's own services or databases is unavailable. */
const isOwnOutage = (error: unknown): boolean => isUnavailable(error) || isDatabaseUnavailable(error);

/**
 * True for temporary errors, after which the activity is retried. Unexpected errors of the platform's services are retried for a few
 * attempts.
 */
export const isTransient = (error: unknown): boolean =>
  !(error instanceof DomainError) || isUnavailable(error) || (error.kind === "internal" && activityInfo().attempt < ATTEMPTS.surprise);

/** Pause before the first retry of work that needs an unavailable service. */
const FIRST_PAUSE_MS = 200;
const LONGEST_PAUSE_MS = 5_000;
/** Maximum share of an attempt's time for waiting. The rest is reserved for the work. */
const WAITING_SHARE = 1 / 3;

/**
 * Waits for unavailable services and databases of the platform without using up an attempt, so that their outages don't make runs fail. Use
 * it only for work that has changed nothing yet or is safe to repeat.
 */
export const retryWhileUnavailable = <T>(signal: AbortSignal, work: () => Promise<T>): Promise<T> =>
  retry(work, {
    pausesMs: doubling(FIRST_PAUSE_MS, LONGEST_PAUSE_MS),
    shouldRetry: isOwnOutage,
    signal,
    until: Date.now() + Math.min(activityInfo().startToCloseTimeoutMs * WAITING_SHARE, TIMING.servicesAway),
  });

/** True for requests and files whose address comes from the graph. Their error messages quote the address. */
const isOfAddress = (call: NodeCall): boolean => "call" in call || "reference" in call;
/** A provider's message with this text quotes an address. */
const ADDRESS = "://";

/** Returns the message of a failed call for callers who can't read the graph. */
const publicMessage = ({ message, metadata }: DomainError, call: NodeCall): Pick<RunError, "publicMessage"> => {
  const { quotesAddress = false } = metadata as StepFailure;
  if (!quotesAddress && !isOfAddress(call) && !message.includes(ADDRESS)) return {};
  const model = "model" in call ? `${call.model}: ` : "";
  return { publicMessage: `node ${nodeName(call.nodeId, call.label)}: ${model}its call failed; the workflow's author can read why` };
};

/** Returns the error that the run records for a failed call, with the item of a fan-out. */
export const runErrorOf = (error: DomainError, call: NodeCall): RunError => {
  const { nodeId, label, item, items } = call;
  const { providerStatus, providerBody, fault } = error.metadata as Pick<RunError, "providerStatus" | "providerBody" | "fault">;
  return {
    code: error.kind === "failed" ? error.reason : "EXECUTION_FAILED",
    message: `node ${nodeName(nodeId, label)}: ${error.message}`,
    ...publicMessage(error, call),
    nodeId,
    ...(items > 1 ? { item } : {}),
    ...(providerStatus === undefined ? {} : { providerStatus }),
    ...(providerBody === undefined ? {} : { providerBody }),
    ...(fault === undefined ? {} : { fault }),
  };
};

/** Error of a stopped call that finished but has no output. */
export const refusalError = (call: NodeCall, message = "its output was refused"): RunError =>
  runErrorOf(new DomainError("failed", "CONTENT_REFUSED", message), call);

/** Returns a failure with the pause that the provider asked for. */
export const laterOf = ({ problem, afterMs }: TryAgain, call: NodeCall): ApplicationFailure => {
  const { message, ...rest } = runErrorOf(problem, call);
  return ApplicationFailure.create({ message, type: rest.code, details: [{ message, ...rest }], nextRetryDelay: afterMs });
};

/** Ends a call of a cancelled run if this process knows of the cancellation before Temporal. */
export const cancelledFailure = (error: unknown): ApplicationFailure =>
  ApplicationFailure.nonRetryable("the run is being cancelled", RUN_CANCELLED, null, {
    jobMayRun: mayHaveArrived(error),
  } satisfies StepFailure);

export const cancelKey = ({ key }: NodeCall): string => `cancel:${key}`;

/**
 * Deadline for a call that exceeds its user's limit on outgoing requests. It counts from the node's start, even if the call moves between
 * the workflow task and activities.
 */
export const outgoingUntil = ({ startedAt }: NodeCall): number => startedAt + TIMING.outgoingWait;

/**
 * Runs a short step in the workflow task. The step is retried while a dependency is unavailable, up to the run's deadline. Final errors end
 * it: rejections at once, faults of the platform after a few attempts.
 */
export const local = async <T>(work: () => Promise<T>): Promise<T> => {
  try {
    return await work();
  } catch (error) {
    if (error instanceof ApplicationFailure || isOwnOutage(error)) throw error;
    const isFault = !(error instanceof DomainError) || error.kind === "internal";
    if (isFault && activityInfo().attempt < ATTEMPTS.surprise) throw error;
    const { message } = error instanceof Error ? error : { message: String(error) };
    throw ApplicationFailure.nonRetryable(message, error instanceof DomainError ? error.reason : "INTERNAL");
  }
};

/** If an extension is rejected, its node fails with the code of the rejection. */
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

const overBudgetError = ({ name, afterMs }: OverBudget): DomainError => {
  const at = new Date(Date.now() + afterMs).toISOString();
  return new DomainError("failed", "OUTGOING_LIMIT_EXCEEDED", `${name}; try again at ${at}`, QUOTES_ADDRESS);
};

export type Outgoing = ReturnType<typeof createOutgoing>;

export const createOutgoing = (take: TakeOutgoing) => ({
  /**
   * Counts a call against its user's limit on outgoing requests.
   * @param until deadline for the call's turn, in milliseconds since the epoch
   * @throws TryAgain if the turn can come before the deadline; otherwise OUTGOING_LIMIT_EXCEEDED
   */
  call: async (user: OutgoingUser, url: string, until: number): Promise<void> => {
    const over = await take("calls", user, url);
    if (!over) return;
    const isInTime = Date.now() + over.pauseMs <= until;
    countOutgoingWait("call", isInTime ? "waited" : "refused");
    throw isInTime ? new TryAgain(overBudgetError(over), over.pauseMs) : overBudgetError(over);
  },
});
