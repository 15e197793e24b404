/** Ends all runs and batches of an account, starting with the sources of new runs. */
import { unlessNotFound } from "@nodeloom/kernel";
import type { Erasure } from "../clients";
import { TIMING } from "../run/timing";
import type { LeavingStore } from "../record/leaving";
import type { Orders } from "../batches/orders";
import type { Cancellation } from "../accept/cancellation";

/** Maximum runs cancelled per pass. */
const PAGE = 500;

export interface EndingOptions {
  store: Pick<LeavingStore, "underWay" | "countOpen">;
  triggers: Pick<Erasure, "erase">;
  orders: Pick<Orders, "cancelAll">;
  cancellation: Pick<Cancellation, "cancel">;
}

/** Ends all runs and batches of an account. Returns the number of runs and batches that haven't ended yet. */
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
      // An accepted run is still undecided. It will soon run or be refused.
      if (status !== "accepted") await unlessNotFound(cancellation.cancel(_id, userId));
    }
    return store.countOpen(userId);
  };
};
