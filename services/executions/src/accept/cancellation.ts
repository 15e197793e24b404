import { CONFLICT_ATTEMPTS, executionNotFound, executionOf, unavailable } from "@nodeloom/kernel";
import { retryOnConflict } from "@nodeloom/platform";
import type { FailingTasks } from "../workflow/failing-tasks";
import type { Abandon } from "../lifecycle/abandon";
import type { ExecutionView } from "../run/record";
import type { Stores } from "../record/stores";
import type { End } from "../lifecycle/end";
import type { Outbox } from "../lifecycle/outbox";
import type { AwaitDelivered } from "../record/runs/channel";
import type { Execution } from "../lifecycle/execution";
import { isFinal } from "../run/states";

/**
 * A run is cancelled in four ways:
 * - A client cancels it (`cancel`). A run under way becomes `cancel_requested`, and its workflow and calls are signalled. A queued run ends
 *   at once, and so does one whose workflow task fails.
 * - A client cancels all queued runs (`cancelQueued`).
 * - An operator cancels the workflow in Temporal. The workflow treats that as the signal and ends as `cancelled`.
 * - A call finds its run `cancel_requested` before it is sent. It isn't sent, and the workflow stops the other calls.
 */

export interface CancellationOptions {
  stores: Pick<Stores, "rows" | "queues">;
  execution: Pick<Execution, "requestCancel">;
  end: Pick<End, "endQueued">;
  outbox: Pick<Outbox, "deliverLater">;
  awaitDelivered: AwaitDelivered;
  tasks: Pick<FailingTasks, "isFailing">;
  abandon: Abandon;
}

export const createCancellation = ({ stores, execution, end, outbox, awaitDelivered, tasks, abandon }: CancellationOptions) => {
  const leaveQueue = async (executionId: string, userId: string): Promise<boolean> =>
    (await end.endQueued(executionId, { userId }, null)) !== null;

  /** Signals the workflow of a run. A workflow whose task fails receives no signal, so its run is ended from outside. */
  const stop = async (row: ExecutionView): Promise<void> => {
    const isFailing = await tasks.isFailing(row._id).catch(() => false);
    if (isFailing) await abandon(row);
    else void outbox.deliverLater(row);
  };

  return {
    /** @returns `cancel_requested`, or `already_` with the status in which the run ended. @throws EXECUTION_NOT_FOUND */
    cancel: async (executionId: string, userId: string): Promise<string> => {
      const answer = await retryOnConflict(CONFLICT_ATTEMPTS.cancellation, async () => {
        const row = (await execution.requestCancel(executionId, userId)) ?? (await stores.rows.findOwned(executionId, userId));
        if (!row) throw executionNotFound();
        // The outbox signals the workflow again; if that fails, the relay retries.
        if (row.status === "cancel_requested") {
          await stop(row);
          return "cancel_requested";
        }
        if (row.status === "queued") return (await leaveQueue(executionId, userId)) ? "cancel_requested" : undefined;
        await awaitDelivered(row);
        const ending = isFinal(row) ? row.status : row.ending;
        return ending ? `already_${ending}` : undefined;
      });
      if (!answer) throw unavailable("the execution is changing too often: retry");
      return answer;
    },

    /** Cancels all queued runs of a user. @returns the number of runs */
    cancelQueued: async (userId: string): Promise<number> => {
      const { waiting } = await stores.queues.find(userId);
      let cancelled = 0;
      // Cancel the newest first. Otherwise a run that is about to be cancelled would move up into a freed place.
      for (const { id } of [...waiting].reverse()) if (await leaveQueue(executionOf(id), userId)) cancelled += 1;
      return cancelled;
    },
  };
};

export type Cancellation = ReturnType<typeof createCancellation>;
