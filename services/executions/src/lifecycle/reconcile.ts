import { isDatabaseAway, type Logger } from "@nodeloom/platform";
import type { ReconcileReport } from "../contract/reports";
import type { RunError } from "../contract/run-types";
import { TIMING } from "../contract/timing";
import type { ExecutionView } from "../record/execution-record";
import type { ExecutionStore } from "../record/store";
import type { RunStarter } from "../temporal/client";
import type { Settlement } from "./settlement";

const PAGE = 200;
const MAX_PAGES = 20;
const ASKED_AT_ONCE = 20;
/** Records that are left for the next look because they could not be ended in this one. */
const MAX_FAILED = 1_000;
const ABANDONED: RunError = { code: "EXECUTION_FAILED", message: "the run was ended from outside before it was done" };

export interface ReconcileOptions {
  store: Pick<ExecutionStore, "unseenSince" | "markSeen">;
  starter: Pick<RunStarter, "isCarried">;
  settlement: Pick<Settlement, "abandon">;
  logger: Logger;
  unseenMs?: number;
}

/**
 * Finds runs that nothing carries any more (terminated by an operator, lost with Temporal's database) and ends them: what
 * completed is charged, the rest of the hold released, rows become final, the webhook is told. One that is carried is left alone.
 */
export const createReconciler = ({ store, starter, settlement, logger, unseenMs = TIMING.unseenRun }: ReconcileOptions) => {
  /** @returns whether the run is under way. */
  const check = async (record: ExecutionView): Promise<boolean> => {
    if (await starter.isCarried(record._id)) return true;
    const status = await settlement.abandon(record, ABANDONED);
    logger.warn({ executionId: record._id, status }, "ended a run that nothing carried any more");
    return false;
  };

  /** Each for itself: a record that can't be ended keeps no other from it. */
  const checkAll = async (records: readonly ExecutionView[], report: ReconcileReport, failed: string[]): Promise<void> => {
    const outcomes = await Promise.allSettled(records.map(check));
    const carried: string[] = [];
    for (const [index, outcome] of outcomes.entries()) {
      const { _id: executionId } = records[index]!;
      if (outcome.status === "rejected") {
        if (isDatabaseAway(outcome.reason)) throw outcome.reason;
        failed.push(executionId);
        report.failed += 1;
        logger.error({ err: outcome.reason as unknown, executionId }, "a run that nothing carries could not be ended");
      } else if (outcome.value) carried.push(executionId);
      else report.ended += 1;
    }
    report.asked += records.length;
    if (carried.length > 0) await store.markSeen(carried, new Date());
  };

  return async (beat: () => void): Promise<ReconcileReport> => {
    const report: ReconcileReport = { asked: 0, ended: 0, failed: 0 };
    const failed: string[] = [];
    for (let page = 0; page < MAX_PAGES && failed.length < MAX_FAILED; page += 1) {
      const records = await store.unseenSince(new Date(Date.now() - unseenMs), PAGE, failed);
      for (let first = 0; first < records.length; first += ASKED_AT_ONCE) {
        beat();
        await checkAll(records.slice(first, first + ASKED_AT_ONCE), report, failed);
      }
      if (records.length < PAGE) break;
    }
    return report;
  };
};
