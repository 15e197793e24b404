import { DomainError, executionNotFound, isUnavailable } from "@nodeloom/kernel";
import type { executions } from "@nodeloom/proto";
import { authorize } from "../auth/caller";
import type { Gateway } from "../edge/gateway";
import { whileAdmitted } from "../http/event-stream";
import { EVENT_STREAM_MS } from "../http/limits";
import { isFinal } from "../routes/executions/view";
import type { McpContext } from "./calls";
import { createProgress, type Report, type Step } from "./progress";

/** Waits for a run, and reports how far it has come. */

export interface Following {
  waitMs: number;
  /** Undefined where the client did not ask for progress. */
  report: Report | undefined;
  /** Aborts when the client waits no longer. */
  signal: AbortSignal;
}

/** How often progress is reported where nothing happens: clients give up on calls of which they hear nothing for a minute. */
const TICK_MS = 10_000;
const WAITING = "execution.waiting";

const read = async ({ gateway, caller }: McpContext, executionId: string): Promise<executions.Execution> => {
  const { execution } = await gateway.services.executions.getExecution({ executionId, userId: caller.user.id });
  if (!execution) throw executionNotFound();
  return execution;
};

/** One of the caller's places for streams; undefined where none is left. */
const placeOf = ({ eventStreams }: Gateway, userId: string): (() => void) | undefined => {
  try {
    return eventStreams.take(userId);
  } catch (error) {
    if (error instanceof DomainError) return undefined;
    throw error;
  }
};

/** Reads the log until the run is over, waits for a decision, or is waited for no longer. */
const watch = async (context: McpContext, known: executions.Execution, report: Report | undefined, signal: AbortSignal): Promise<void> => {
  const { gateway, caller } = context;
  const query = { executionId: known.executionId, userId: caller.user.id, afterSequence: 0 };
  const progress = createProgress(known.nodes.length);
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
 * Follows a run of the caller's.
 * @returns it as it is when it is over, waits for a decision, or `waitMs` have passed; at once where the caller follows too many already
 * @throws DomainError EXECUTION_NOT_FOUND, SERVICE_UNAVAILABLE
 */
export const follow = async (
  context: McpContext,
  executionId: string,
  { waitMs, report, signal }: Following,
): Promise<executions.Execution> => {
  const known = await read(context, executionId);
  if (waitMs === 0 || isFinal(known) || known.waitingFor.length > 0) return known;
  const { gateway, caller, request, response } = context;
  const giveBack = placeOf(gateway, caller.person.id);
  if (!giveBack) return known;
  const waited = AbortSignal.any([signal, gateway.stopping, AbortSignal.timeout(waitMs)]);
  const admitted = whileAdmitted(waited, async () => {
    authorize(await gateway.authentication.authenticate(request, response, { takesBearer: true }), "any", undefined);
  });
  try {
    await watch(context, known, report, admitted);
  } catch (error) {
    // The run goes on without a reader.
    if (!isUnavailable(error)) throw error;
  } finally {
    giveBack();
  }
  return read(context, executionId);
};
