import { DomainError } from "@nodeloom/kernel";
import { startSweeper, type Logger, type Sweeper } from "@nodeloom/platform";
import { batches, executions, type identity } from "@nodeloom/proto";
import type { Services } from "../clients/services";
import { RUN_STOP_INTERVAL_MS, RUN_STOP_PAGE, RUN_STOP_PARALLEL } from "../http/limits";

interface Needs {
  identity: Pick<Services["identity"], "claimRunStop" | "finishRunStop">;
  executions: Pick<Services["executions"], "listExecutions" | "cancelExecution">;
  batches: Pick<Services["batches"], "cancelBatches">;
}

export interface RunStopsOptions {
  services: Needs;
  logger: Logger;
  intervalMs?: number;
}

/** True if a stop covers this run. It doesn't cover runs after the user was allowed again. */
const isMeant = (stop: identity.RunStop, { createdAt }: executions.Execution): boolean =>
  !stop.lifted || !createdAt || !stop.at || createdAt <= stop.at;

/**
 * Cancels runs of users who were suspended or lost approval. Identity keeps each stop until its runs are cancelled, so that another gateway
 * can continue. Cancelling twice is harmless.
 */
export const startRunStops = ({ services, logger, intervalMs = RUN_STOP_INTERVAL_MS }: RunStopsOptions): Sweeper => {
  const cancel = async (userId: string, { executionId }: executions.Execution): Promise<void> => {
    try {
      await services.executions.cancelExecution({ executionId, userId });
    } catch (error) {
      // A failure to cancel one run doesn't stop the others.
      if (!(error instanceof DomainError)) throw error;
      logger.warn({ err: error, userId, executionId }, "a run of a stopped user was not cancelled yet");
    }
  };

  /** Cancels the current runs of one account. Returns their number. */
  const cancelOf = async (userId: string, stop: identity.RunStop, signal: AbortSignal): Promise<number> => {
    // Stops the sources of new runs first.
    const createdBy = stop.lifted && stop.at ? { createdBy: stop.at } : {};
    const request = batches.CancelBatchesRequest.fromPartial({ userId, ...createdBy });
    let { cancelled } = await services.batches.cancelBatches(request, { signal });
    let cursor = "";
    do {
      const request = { userId, status: "processing", limit: RUN_STOP_PAGE, cursor };
      const query = executions.ListExecutionsRequest.fromPartial(request);
      const page = await services.executions.listExecutions(query, { signal });
      const executionsToStop = page.executions.filter((execution) => isMeant(stop, execution));
      for (let start = 0; start < executionsToStop.length; start += RUN_STOP_PARALLEL) {
        await Promise.all(executionsToStop.slice(start, start + RUN_STOP_PARALLEL).map((execution) => cancel(userId, execution)));
      }
      cancelled += executionsToStop.length;
      cursor = page.nextCursor;
    } while (cursor !== "" && !signal.aborted);
    return cancelled;
  };

  /** Covers the user's own account and the organizations with the user's tier. */
  const cancelAll = async (stop: identity.RunStop, signal: AbortSignal): Promise<number> => {
    let cancelled = 0;
    for (const userId of [stop.userId, ...stop.organizationIds]) cancelled += await cancelOf(userId, stop, signal);
    return cancelled;
  };

  const sweep = async (signal: AbortSignal): Promise<void> => {
    while (!signal.aborted) {
      const { stop } = await services.identity.claimRunStop({}, { signal });
      if (!stop) return;
      const cancelled = await cancelAll(stop, signal);
      // A request admitted before the stop can start its run after this check. The stop is claimed again until no run is found.
      if (stop.settled && cancelled === 0 && !signal.aborted) await services.identity.finishRunStop({ stop });
    }
  };

  return startSweeper({ sweep, intervalMs, onFailure: (error) => logger.debug({ err: error }, "runs are cancelled later") });
};
