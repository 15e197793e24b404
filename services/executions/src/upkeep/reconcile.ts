import type { Logger } from "@nodeloom/platform";
import { TIMING } from "../run/timing";
import type { ExecutionView } from "../run/record";
import type { Stores } from "../record/stores";
import type { RunStarter } from "../workflow/client";
import { LOOK_PAGE, lookThrough, type PassReport } from "../record/look";
import { abandonedEnd } from "../lifecycle/abandon";
import type { End } from "../lifecycle/end";

/** Maximum number of records that a pass skips because they couldn't be ended. */
const MAX_FAILED = 1_000;

export interface ReconcileOptions {
  stores: Pick<Stores, "rows" | "log">;
  starter: Pick<RunStarter, "isRunning">;
  end: Pick<End, "end">;
  logger: Logger;
  unseenMs?: number;
  /** Additional time before a waiting run is checked. */
  waitingMs?: number;
}

/**
 * Ends runs that no workflow runs any more, because an operator terminated the workflow or Temporal's database was lost. Completed calls
 * are charged, the rest of the hold is released, rows become final, and the webhook is sent. Runs with a workflow aren't changed.
 */
export const createReconciler = ({
  stores,
  starter,
  end,
  logger,
  unseenMs = TIMING.unseenRun,
  waitingMs = TIMING.unseenWaiting,
}: ReconcileOptions) => {
  const check = async (record: ExecutionView): Promise<boolean> => {
    if (await starter.isRunning(record._id)) return false;
    const row = await end.end({ from: "lost", row: record }, abandonedEnd(await stores.log.current(record)));
    logger.warn({ executionId: record._id, status: row?.status }, "ended a run that nothing carried any more");
    return true;
  };

  return async (beat: () => void): Promise<PassReport> => {
    const failed: string[] = [];
    const nextPage = async () => {
      const items = await stores.rows.unseenSince(new Date(Date.now() - unseenMs), LOOK_PAGE, failed);
      return { items, isLast: items.length < LOOK_PAGE || failed.length >= MAX_FAILED };
    };
    return lookThrough(nextPage, {
      beat,
      check,
      fine: async (knownRuns) => {
        const now = Date.now();
        const mark = async (rows: readonly ExecutionView[], at: number): Promise<void> => {
          if (rows.length > 0)
            await stores.rows.markSeen(
              rows.map(({ _id }) => _id),
              new Date(at),
            );
        };
        await mark(
          knownRuns.filter(({ waiting }) => !waiting),
          now,
        );
        // Many runs may wait for a long time, so they are checked less often.
        await mark(
          knownRuns.filter(({ waiting }) => waiting),
          now + waitingMs,
        );
      },
      failed: ({ _id: executionId }, err) => {
        failed.push(executionId);
        logger.error({ err, executionId }, "a run that nothing carries could not be ended");
      },
    });
  };
};
