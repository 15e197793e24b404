import { DomainError, isUnavailable } from "@nodeloom/kernel";
import type { executions } from "@nodeloom/proto";
import { authorize } from "../auth/caller";
import type { Gateway } from "../edge/gateway";
import { whileAdmitted } from "../http/event-stream";
import { EVENT_STREAM_MS } from "../http/limits";
import { PROTOCOLS } from "../http/protocols";
import { ownExecution } from "../routes/executions/own";
import { isFinal } from "../routes/executions/view";
import type { McpContext } from "./calls";
import { createProgress, type Report, type Step } from "./progress";

/** Waits for a run and reports its progress. */

export interface Following {
  waitMs: number;
  /** Undefined if the client didn't request progress. */
  report: Report | undefined;
  /** Aborts when the client stops waiting. */
  signal: AbortSignal;
}

/** Interval of progress without events: clients stop waiting after a minute without a message. */
const TICK_MS = 10_000;
const WAITING = "execution.waiting";

/** Takes a stream slot of the caller; undefined if none is left. */
const placeOf = ({ eventStreams }: Gateway, userId: string): (() => void) | undefined => {
  try {
    return eventStreams.take(userId);
  } catch (error) {
    if (error instanceof DomainError) return undefined;
    throw error;
  }
};

/** Reads the log until the run ends, waits for a decision, or the wait is over. */
const watch = async (
  context: McpContext,
  execution: executions.Execution,
  report: Report | undefined,
  signal: AbortSignal,
): Promise<void> => {
  const { gateway, caller } = context;
  const query = { executionId: execution.executionId, userId: caller.user.id, afterSequence: 0 };
  const progress = createProgress(execution.nodes.length);
  const say = (step: Step | undefined): void => {
    if (step) report?.(step);
  };
  const ticking = report && setInterval(() => say(progress.tick()), TICK_MS);
  try {
    for await (const { type, dataJson } of gateway.services.executions.watchExecution(query, { deadlineMs: EVENT_STREAM_MS, signal })) {
      say(progress.advance(type, JSON.parse(dataJson || "{}") as Record<string, unknown>));
      if (type === WAITING) return;
    }
  } finally {
    clearInterval(ticking);
  }
};

/**
 * Follows a run.
 * @returns the execution when it ends, waits for a decision, or after `waitMs`; at once if the caller has too many streams
 * @throws DomainError EXECUTION_NOT_FOUND, SERVICE_UNAVAILABLE
 */
export const follow = async (
  context: McpContext,
  executionId: string,
  { waitMs, report, signal }: Following,
): Promise<executions.Execution> => {
  const execution = await ownExecution(context, executionId);
  if (waitMs === 0 || isFinal(execution) || execution.waitingFor.length > 0) return execution;
  const { gateway, caller, request, response } = context;
  const giveBack = placeOf(gateway, caller.person.id);
  if (!giveBack) return execution;
  const waited = AbortSignal.any([signal, gateway.stopping, AbortSignal.timeout(waitMs)]);
  const admitted = whileAdmitted(waited, async () => {
    authorize(await gateway.authentication.authenticate(request, response, { keySchemes: PROTOCOLS.mcp.keySchemes }), "any", undefined);
  });
  try {
    await watch(context, execution, report, admitted);
  } catch (error) {
    // The run continues without a reader.
    if (!isUnavailable(error)) throw error;
  } finally {
    giveBack();
  }
  return ownExecution(context, executionId);
};
