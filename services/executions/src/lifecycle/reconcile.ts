import type { Logger } from "@nodeloom/platform";
import type { RunError } from "../contract/run-types";
import type { createSettlement } from "./settlement";
import type { ExecutionStore, ExecutionView } from "../record/store";
import type { RunStarter } from "../temporal/client";
import { TIMING } from "../contract/timing";

const PAGE = 200;
const MAX_PAGES = 20;
const ASKED_AT_ONCE = 20;
const ABANDONED: RunError = { code: "EXECUTION_FAILED", message: "the run was ended from outside before it was done" };

export interface ReconcileReport {
  /** Runs that Temporal was asked for. */
  asked: number;
  /** Runs that nothing carried any more, and that were ended here. */
  ended: number;
}

export interface ReconcileOptions {
  store: Pick<ExecutionStore, "unseenSince" | "markSeen">;
  starter: Pick<RunStarter, "outcome">;
  settlement: Pick<ReturnType<typeof createSettlement>, "abandon">;
  /** Has the webhook of a run told of its end, if it has one. */
  announce: (record: ExecutionView) => Promise<void>;
  logger: Logger;
  unseenMs?: number;
}

/**
 * Finds recorded runs that nothing carries any more (terminated by an operator, lost with Temporal's database) and ends
 * them: the hold is released, rows become final, the webhook is told. One that is still carried is left alone.
 */
export const createReconciler = ({ store, starter, settlement, announce, logger, unseenMs = TIMING.unseenRun }: ReconcileOptions) => {
  /** @returns whether the run is under way. */
  const check = async (record: ExecutionView): Promise<boolean> => {
    if ((await starter.outcome(record._id)) === "running") return true;
    // First, because nothing would remind us of it once the run is final.
    await announce(record);
    const status = await settlement.abandon(record, ABANDONED);
    logger.warn({ executionId: record._id, status }, "ended a run that nothing carried any more");
    return false;
  };

  return async (beat: () => void): Promise<ReconcileReport> => {
    const report: ReconcileReport = { asked: 0, ended: 0 };
    for (let page = 0; page < MAX_PAGES; page += 1) {
      const records = await store.unseenSince(new Date(Date.now() - unseenMs), PAGE);
      for (let first = 0; first < records.length; first += ASKED_AT_ONCE) {
        beat();
        const some = records.slice(first, first + ASKED_AT_ONCE);
        const underWay = await Promise.all(some.map(check));
        report.asked += some.length;
        report.ended += underWay.filter((is) => !is).length;
        await store.markSeen(
          some.filter((_, index) => underWay[index]).map(({ _id }) => _id),
          new Date(),
        );
      }
      if (records.length < PAGE) break;
    }
    return report;
  };
};
