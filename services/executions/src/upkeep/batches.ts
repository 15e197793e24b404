/** Carries batches again that nothing carries any more, and forgets those whose creation was lost. */
import type { Logger } from "@nodeloom/platform";
import type { BatchStarter } from "../carry/client";
import type { BatchRecord } from "../run/batch";
import { TIMING } from "../run/timing";
import type { Stores } from "../store/stores";
import { checkEach } from "../store/look";

const PAGE = 200;

export interface BatchSweepOptions {
  stores: Pick<Stores, "batches">;
  starter: BatchStarter;
  logger: Logger;
  now?: () => number;
}

export const createBatchSweep = ({ stores, starter, logger, now = Date.now }: BatchSweepOptions) => {
  const { batches } = stores;

  const check = async ({ _id, userId, status, createdAt }: BatchRecord): Promise<boolean> => {
    if (status !== "preparing") {
      await starter.startBatch(_id, userId);
      await batches.markSeen(_id, new Date(now()));
      return true;
    }
    if (now() - createdAt.getTime() < TIMING.batchPreparing) return false;
    await batches.forget(_id);
    return true;
  };

  /** One look. It ends, with an error, soon after the signal: the next process goes on. */
  return async (stopping?: AbortSignal): Promise<void> => {
    const unseen = await batches.unseenSince(new Date(now() - TIMING.batchUnseen), PAGE);
    await checkEach(unseen, {
      beat: () => stopping?.throwIfAborted(),
      check,
      failed: ({ _id }, err) => logger.warn({ err, batchId: _id }, "a batch could not be carried again"),
    });
  };
};
