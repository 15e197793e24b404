import { isDatabaseAway, type Logger } from "@nodeloom/platform";
import type { DeliveriesReport } from "../contract/reports";
import { FIRST_DELIVERY } from "../contract/delivery";
import type { ExecutionView } from "../record/execution-record";
import type { ExecutionStore } from "../record/store";
import type { DeliveryStarter } from "../temporal/client";
import { TIMING } from "../contract/timing";

const PAGE = 200;
const MAX_PAGES = 20;
const ASKED_AT_ONCE = 20;

export interface DeliveryReconcilerOptions {
  store: Pick<ExecutionStore, "lateDeliveries" | "beginDelivery">;
  starter: Pick<DeliveryStarter, "isCarried" | "startAgain">;
  logger: Logger;
  lateMs?: number;
}

/**
 * Finds webhooks whose next attempt is long due and whose delivery nothing carries any more (terminated, lost with Temporal's
 * database, never started), and delivers them again. One that is carried is left alone: it waits for something.
 */
export const createDeliveryReconciler = ({ store, starter, logger, lateMs = TIMING.lateDelivery }: DeliveryReconcilerOptions) => {
  /** @returns whether it was begun again. */
  const check = async ({ _id: executionId, webhook, keyId }: ExecutionView): Promise<boolean> => {
    if (!webhook || keyId === null) return false;
    const delivery = webhook.delivery ?? FIRST_DELIVERY;
    if (await starter.isCarried(executionId, delivery)) return false;
    await starter.startAgain({ executionId, keyId, delivery: delivery + 1 });
    await store.beginDelivery(executionId, delivery + 1, new Date());
    logger.warn({ executionId, delivery }, "delivers a webhook again whose delivery nothing carried any more");
    return true;
  };

  /** Each for itself: one that can't be begun again keeps no other from it; the next look tries it again. */
  const checkAll = async (records: readonly ExecutionView[], report: DeliveriesReport): Promise<void> => {
    const outcomes = await Promise.allSettled(records.map(check));
    for (const [index, outcome] of outcomes.entries()) {
      if (outcome.status === "fulfilled") report.redelivered += Number(outcome.value);
      else if (isDatabaseAway(outcome.reason)) throw outcome.reason;
      else {
        report.stuck += 1;
        logger.error({ err: outcome.reason as unknown, executionId: records[index]!._id }, "a webhook could not be delivered again");
      }
    }
  };

  return async (beat: () => void): Promise<DeliveriesReport> => {
    const report: DeliveriesReport = { late: 0, redelivered: 0, stuck: 0 };
    const before = new Date(Date.now() - lateMs);
    let after: Pick<ExecutionView, "_id" | "finishedAt"> | undefined;
    for (let page = 0; page < MAX_PAGES; page += 1) {
      const records = await store.lateDeliveries(before, PAGE, after);
      for (let first = 0; first < records.length; first += ASKED_AT_ONCE) {
        beat();
        await checkAll(records.slice(first, first + ASKED_AT_ONCE), report);
      }
      report.late += records.length;
      after = records.at(-1);
      if (records.length < PAGE) break;
    }
    return report;
  };
};
