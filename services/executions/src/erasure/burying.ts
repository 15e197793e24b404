/** Erases several final runs and ended batches. Runs that fail or aren't final yet are found again later. */
import type { Erasure } from "../clients";
import type { Outbox } from "../lifecycle/outbox";
import type { BuriedBy } from "../record/erasure/tombstones";
import type { Stores } from "../record/stores";
import type { BatchRecord } from "../run/batch";
import type { ExecutionView } from "../run/record";
import { TIMING } from "../run/timing";
import type { Leaver } from "../workflow/leaving";

/** Maximum runs per turn, and how many of them are erased concurrently. */
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

  /** Replaces runs with tombstones. Their outboxes remove the remaining data. */
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

    /** Removes an ended batch after its items, which may take several turns. @returns true if the batch is removed */
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
