import { CONFLICT_ATTEMPTS, executionNotFound, executionOf, unavailable } from "@nodeloom/kernel";
import { retryOnConflict } from "@nodeloom/platform";
import type { FailingTasks } from "../workflow/failing-tasks";
import type { Abandon } from "../lifecycle/abandon";
import type { ExecutionView } from "../run/record";
import type { Stores } from "../record/stores";
import type { End } from "../lifecycle/end";
import type { Outbox } from "../lifecycle/outbox";
import type { AwaitDelivered } from "./follow";
import type { Execution } from "../lifecycle/execution";
import { isFinal } from "../run/states";

/**
 * Cancelling arrives in four ways.
 * - A client asks for it (`cancel`): a run under way becomes `cancel_requested`, and its workflow and the calls under way hear
 *   of it; one that waits in the queue is over at once, and so is one whose workflow task fails.
 * - A client cancels all that waits (`cancelQueued`).
 * - An operator cancels the workflow in Temporal: the workflow takes it for the signal, and its end is `cancelled`.
 * - A call finds its run `cancel_requested` before it is sent: it is not sent, and the workflow stops the others.
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

  /** Signals the workflow of a run; if its task fails, so that it hears of nothing, the run is ended from outside. */
  const stop = async (row: ExecutionView): Promise<void> => {
    const isFailing = await tasks.isFailing(row._id).catch(() => false);
    if (isFailing) await abandon(row);
    else void outbox.deliverLater(row);
  };

  return {
    /** @returns cancel_requested, or already_ and how the run ended. @throws EXECUTION_NOT_FOUND */
    cancel: async (executionId: string, userId: string): Promise<string> => {
      const answer = await retryOnConflict(CONFLICT_ATTEMPTS.cancellation, async () => {
        const row = (await execution.requestCancel(executionId, userId)) ?? (await stores.rows.findOwned(executionId, userId));
        if (!row) throw executionNotFound();
        // Sent to its workflow, once more where it was before. Where that fails the relay does it.
        if (row.status === "cancel_requested") {
          await stop(row);
          return "cancel_requested";
        }
        if (row.status === "queued") return (await leaveQueue(executionId, userId)) ? "cancel_requested" : undefined;
        await awaitDelivered(row);
        const ending = isFinal(row) ? row.status : row.ending;
        return ending ? `already_${ending}` : undefined;
      });
      if (!answer) throw unavailable("the execution changes too often");
      return answer;
    },

    /** Cancels all of a user's runs that wait in the queue. @returns how many */
    cancelQueued: async (userId: string): Promise<number> => {
      const { waiting } = await stores.queues.find(userId);
      let cancelled = 0;
      // The youngest first: nothing moves up meanwhile that is about to be cancelled.
      for (const { id } of [...waiting].reverse()) if (await leaveQueue(executionOf(id), userId)) cancelled += 1;
      return cancelled;
    },
  };
};

export type Cancellation = ReturnType<typeof createCancellation>;
