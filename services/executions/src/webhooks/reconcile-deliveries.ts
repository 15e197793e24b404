import type { Logger } from "@nodeloom/platform";
import { FIRST_DELIVERY } from "../contract/delivery";
import type { ExecutionView } from "../record/execution-record";
import type { ExecutionStore } from "../record/store";
import type { DeliveryStarter } from "../temporal/client";
import { TIMING } from "../contract/timing";

const PAGE = 200;
const MAX_PAGES = 20;
const ASKED_AT_ONCE = 20;

export interface DeliveriesReport {
  /** Deliveries that were late, so that Temporal was asked for them. */
  late: number;
  /** Those that nothing carried any more, and that were begun again. */
  redelivered: number;
}

export interface DeliveryReconcilerOptions {
  store: Pick<ExecutionStore, "lateDeliveries" | "beginDelivery">;
  starter: Pick<DeliveryStarter, "isUnderWay" | "startAgain">;
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
    if (await starter.isUnderWay(executionId, delivery)) return false;
    await starter.startAgain({ executionId, keyId, delivery: delivery + 1 });
    await store.beginDelivery(executionId, delivery + 1, new Date());
    logger.warn({ executionId, delivery }, "delivers a webhook again whose delivery nothing carried any more");
    return true;
  };

  return async (beat: () => void): Promise<DeliveriesReport> => {
    const report: DeliveriesReport = { late: 0, redelivered: 0 };
    const before = new Date(Date.now() - lateMs);
    let after: Pick<ExecutionView, "_id" | "finishedAt"> | undefined;
    for (let page = 0; page < MAX_PAGES; page += 1) {
      const records = await store.lateDeliveries(before, PAGE, after);
      for (let first = 0; first < records.length; first += ASKED_AT_ONCE) {
        beat();
        const begun = await Promise.all(records.slice(first, first + ASKED_AT_ONCE).map(check));
        report.redelivered += begun.filter(Boolean).length;
      }
      report.late += records.length;
      after = records.at(-1);
      if (records.length < PAGE) break;
    }
    return report;
  };
};
