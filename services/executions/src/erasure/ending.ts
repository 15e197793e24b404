/** Ends what an account has under way: what would begin more runs first. */
import { unlessNotFound } from "@nodeloom/kernel";
import type { Erasure } from "../clients";
import { TIMING } from "../run/timing";
import type { LeavingStore } from "../record/leaving";
import type { Orders } from "../batches/orders";
import type { Cancellation } from "../accept/cancellation";

/** Runs that one look cancels. */
const PAGE = 500;

export interface EndingOptions {
  store: Pick<LeavingStore, "underWay" | "countOpen">;
  /** Of triggers. */
  triggers: Pick<Erasure, "erase">;
  orders: Pick<Orders, "cancelAll">;
  cancellation: Pick<Cancellation, "cancel">;
}

/** Ends what an account has under way. Its result: how many runs and batches are not over yet. */
export const createEndUnderWay = ({ store, triggers, orders, cancellation }: EndingOptions) => {
  const endTriggers = async (ownerId: string): Promise<void> => {
    let cursor = "";
    do cursor = (await triggers.erase({ ownerId, cursor }, { deadlineMs: TIMING.erasePage })).nextCursor;
    while (cursor !== "");
  };

  return async (userId: string, beat: () => void): Promise<number> => {
    await endTriggers(userId);
    await orders.cancelAll({ userId, createdBy: undefined });
    for (const { _id, status } of await store.underWay(userId, PAGE)) {
      beat();
      // Nothing is decided yet: a moment later it runs, or was refused.
      if (status !== "accepted") await unlessNotFound(cancellation.cancel(_id, userId));
    }
    return store.countOpen(userId);
  };
};
