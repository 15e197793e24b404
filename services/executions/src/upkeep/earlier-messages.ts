/** Goes on with deliveries of webhooks that nothing carries any more. */
import type { Logger } from "@nodeloom/platform";
import { FIRST_DELIVERY } from "../run/delivery";
import type { ExecutionView } from "../run/record";
import type { Stores } from "../store/stores";
import type { DeliveryStarter } from "../carry/client";
import { TIMING } from "../run/timing";
import { LOOK_PAGE, lookThrough, type Looked } from "../store/look";

export interface DeliveryReconcilerOptions {
  stores: Pick<Stores, "deliveries">;
  starter: Pick<DeliveryStarter, "isCarried" | "startAgain">;
  logger: Logger;
  lateMs?: number;
}

/**
 * Finds webhooks whose next attempt is long due and whose delivery nothing carries any more (terminated, lost with Temporal's
 * database, never started), and delivers them again. One that is carried is left alone: it waits for something.
 */
export const createDeliveryReconciler = ({ stores, starter, logger, lateMs = TIMING.lateDelivery }: DeliveryReconcilerOptions) => {
  const check = async ({ _id: executionId, webhook, keyId }: ExecutionView): Promise<boolean> => {
    if (!webhook || keyId === null) return false;
    const delivery = webhook.delivery ?? FIRST_DELIVERY;
    if (await starter.isCarried(executionId, delivery)) return false;
    await starter.startAgain({ executionId, keyId, delivery: delivery + 1 });
    await stores.deliveries.begin(executionId, delivery + 1, new Date());
    logger.warn({ executionId, delivery }, "delivers a webhook again whose delivery nothing carried any more");
    return true;
  };

  return async (beat: () => void): Promise<Looked> => {
    const before = new Date(Date.now() - lateMs);
    let after: Pick<ExecutionView, "_id" | "finishedAt"> | undefined;
    const nextPage = async () => {
      const items = await stores.deliveries.late(before, LOOK_PAGE, after);
      after = items.at(-1);
      return { items, isLast: items.length < LOOK_PAGE };
    };
    const failed = ({ _id: executionId }: ExecutionView, err: unknown): void =>
      logger.error({ err, executionId }, "a webhook could not be delivered again");
    return lookThrough(nextPage, { beat, check, failed });
  };
};
