/** Erases several final runs, and batches that are over. What fails, or isn't final yet, is found again. */
import type { Erasure } from "../clients";
import type { Outbox } from "../lifecycle/outbox";
import type { BuriedBy } from "../record/tombstones";
import type { Stores } from "../record/stores";
import type { BatchRecord } from "../run/batch";
import type { ExecutionView } from "../run/record";
import { TIMING } from "../run/timing";
import type { Leaver } from "../workflow/leaving";

/** Runs per turn, and how many are erased at once. */
export const RUNS = 200;
const AT_ONCE = 8;
export const TEXTS_PAGE = 1_000;
const CALL = { deadlineMs: TIMING.erasePage } as const;

export interface BuryingOptions {
  stores: Pick<Stores, "erasures" | "tombstones" | "payloads" | "leaving">;
  outbox: Pick<Outbox, "deliver">;
  erasures: { notifications: Pick<Erasure, "eraseRuns"> };
  leaver: Pick<Leaver, "removeDeliveries" | "removeBatch">;
}

export type Burying = ReturnType<typeof createBurying>;

export const createBurying = ({ stores, outbox, erasures: { notifications }, leaver }: BuryingOptions) => {
  const { erasures, tombstones, payloads, leaving } = stores;

  /** Leaves tombstones, whose outboxes have the rest removed. */
  const bury = async (runs: readonly ExecutionView[], part: BuriedBy): Promise<void> => {
    const rest = runs.values();
    const work = async (): Promise<void> => {
      for (const row of rest) {
        const buried = await tombstones.bury(row, part);
        if (buried) await outbox.deliver(buried);
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, work));
  };

  return {
    bury,

    /** Removes a batch that is over, once its items are erased: some of them per turn. @returns whether it is gone */
    removeBatch: async ({ _id, userId }: BatchRecord, part: BuriedBy): Promise<boolean> => {
      const items = await erasures.itemsLeft(userId, _id, RUNS);
      if (items.length > 0) {
        await bury(items, part);
        return false;
      }
      await notifications.eraseRuns({ ownerId: userId, executionIds: [_id] }, CALL);
      await leaver.removeDeliveries(_id);
      await leaver.removeBatch(_id);
      while ((await payloads.removeOwned([_id], TEXTS_PAGE)) > 0);
      await leaving.removeBatches(userId, [_id]);
      return true;
    },
  };
};
