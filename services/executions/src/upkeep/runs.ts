/** Processes runs that have outbox entries or are undecided, for the relay. */
import { unavailable } from "@nodeloom/kernel";
import type { RelayedRows } from "@nodeloom/platform";
import type { End } from "../lifecycle/end";
import type { Execution } from "../lifecycle/execution";
import type { Outbox } from "../lifecycle/outbox";
import type { Queue } from "../lifecycle/queue";
import { TIMING } from "../run/timing";
import type { OwingRun } from "../record/runs/transitions";
import type { Stores } from "../record/stores";

export interface RelayedRunsOptions {
  stores: Pick<Stores, "rows">;
  execution: Pick<Execution, "refuse">;
  end: Pick<End, "endQueued">;
  queue: Pick<Queue, "mend">;
  outbox: Pick<Outbox, "deliver">;
  now?: () => number;
}

/**
 * Repairs the state that dead processes left: refuses rows that stayed accepted, delivers outboxes, repairs queues, and ends runs that were
 * queued for too long.
 */
export const createRelayedRuns = ({ stores, execution, end, queue, outbox, now = Date.now }: RelayedRunsOptions): RelayedRows<OwingRun> => {
  const settleOne = async (run: OwingRun): Promise<boolean> => {
    if (run.status === "accepted") {
      const refusedRow = await execution.refuse(run, unavailable("the run was not started", 1));
      return refusedRow !== null && outbox.deliver(refusedRow);
    }
    const row = await stores.rows.find(run._id);
    return row === null || outbox.deliver(row);
  };

  const isLate = ({ queuedAt }: OwingRun): boolean => now() - (queuedAt?.getTime() ?? now()) > TIMING.queued;

  /** Ends a user's runs that were queued for too long, and repairs the queue. */
  const mend = async (userId: string, runs: readonly OwingRun[]): Promise<boolean> => {
    for (const run of runs.filter(isLate)) {
      const error = { code: "EXECUTION_FAILED", message: "the run waited in the queue for 24 hours" } as const;
      await end.endQueued(run._id, {}, error);
    }
    const waiting = runs.filter((run) => !isLate(run)).map(({ holdId, inputBytes }) => ({ id: holdId, bytes: inputBytes ?? 0 }));
    await queue.mend(userId, waiting);
    return true;
  };

  return {
    name: "runs",
    page: (limit, after) => stores.rows.unsettled(limit, after),
    signatureOf: ({ _id, status, attempt, outbox: entries }) => JSON.stringify([_id, status, attempt, entries]),
    // A queued run waits for its turn.
    entriesOf: ({ status, outbox: entries }) => entries.length + Number(status === "accepted"),
    groupOf: ({ _id, status, userId }) => (status === "queued" ? `line of ${userId}` : _id),
    settle: ([first, ...others]) => {
      if (!first) return Promise.resolve(true);
      return first.status === "queued" ? mend(first.userId, [first, ...others]) : settleOne(first);
    },
  };
};
