import { CONFLICT_ATTEMPTS, executionOf, unavailable } from "@nodeloom/kernel";
import { retryOnConflict } from "@nodeloom/platform";
import type { ExecutionView } from "../record/execution-record";
import type { ExecutionStore } from "../record/store";
import type { Debts } from "./debts";
import type { Execution } from "./execution";
import { executionNotFound } from "../refusals";
import { isFinal } from "./states";

/**
 * Cancelling arrives in four ways.
 * - A client asks for it (`cancel`): a run under way becomes `cancel_requested`, and its workflow and the calls under way hear
 *   of it; one that waits in line is over at once.
 * - A client cancels all that waits (`cancelQueued`).
 * - An operator cancels the workflow in Temporal: the workflow takes it for the signal, and its end is `cancelled`.
 * - A call finds its run `cancel_requested` before it is sent: it is not sent, and the workflow stops the others.
 */

export interface CancellationOptions {
  store: Pick<ExecutionStore, "findOwned" | "find" | "lines">;
  execution: Pick<Execution, "requestCancel" | "leaveLine">;
  debts: Pick<Debts, "payForReader" | "payLater">;
}

export const createCancellation = ({ store, execution, debts }: CancellationOptions) => {
  const leaveLine = async (executionId: string, userId: string): Promise<boolean> => {
    const row = await execution.leaveLine(executionId, { userId }, null);
    if (row) debts.payLater(row);
    return row !== null;
  };

  /** Tells the workflow of a run; where that can't be done now, the sweeper does it. */
  const tell = async (row: ExecutionView | null): Promise<void> => {
    if (row?.status === "cancel_requested") debts.payLater(row);
  };

  return {
    /** @returns cancel_requested, or already_ and how the run ended. @throws EXECUTION_NOT_FOUND */
    cancel: async (executionId: string, userId: string): Promise<string> => {
      const answer = await retryOnConflict(CONFLICT_ATTEMPTS.cancellation, async () => {
        const row = await store.findOwned(executionId, userId);
        if (!row) throw executionNotFound();
        await debts.payForReader(row);
        if (isFinal(row)) return `already_${row.status}`;
        if (row.status === "queued" && (await leaveLine(executionId, userId))) return "cancel_requested";
        if (row.status === "processing" && row.ending) return `already_${row.ending}`;
        if (row.status !== "cancel_requested" && !(await execution.requestCancel(executionId, userId))) return undefined;
        await tell(await store.find(executionId));
        return "cancel_requested";
      });
      if (!answer) throw unavailable("the execution changes too often");
      return answer;
    },

    /** Cancels all of a user's runs that wait in line. @returns how many */
    cancelQueued: async (userId: string): Promise<number> => {
      const { waiting } = await store.lines.find(userId);
      let cancelled = 0;
      // The youngest first: nothing moves up meanwhile that is about to be cancelled.
      for (const { id } of [...waiting].reverse()) if (await leaveLine(executionOf(id) ?? id, userId)) cancelled += 1;
      return cancelled;
    },
  };
};

export type Cancellation = ReturnType<typeof createCancellation>;
