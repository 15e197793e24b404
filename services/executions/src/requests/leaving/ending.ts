/** Ends what an account has under way: what would begin more runs first. */
import { unlessNotFound } from "@nodeloom/kernel";
import type { LeavingStore } from "../../store/leaving";
import type { Orders } from "../../batches/orders";
import type { Cancellation } from "../cancellation";
import type { Triggers } from "../triggers/triggers";

/** Runs that one look cancels. */
const PAGE = 500;

export interface EndingOptions {
  store: Pick<LeavingStore, "schedules" | "hooks" | "underWay" | "countOpen">;
  triggers: { schedules: Pick<Triggers["schedules"], "remove">; hooks: Pick<Triggers["hooks"], "remove"> };
  orders: Pick<Orders, "cancelAll">;
  cancellation: Pick<Cancellation, "cancel">;
}

export const createEnding = ({ store, triggers, orders, cancellation }: EndingOptions) => {
  const endSchedules = async (userId: string): Promise<number> => {
    const found = await store.schedules(userId);
    for (const { _id, workflowSlug } of found) await unlessNotFound(triggers.schedules.remove(userId, workflowSlug, _id));
    return found.length;
  };
  const endHooks = async (userId: string): Promise<number> => {
    const found = await store.hooks(userId);
    for (const { _id, workflowSlug } of found) await unlessNotFound(triggers.hooks.remove(userId, workflowSlug, _id));
    return found.length;
  };

  /** @returns how many runs and batches are not over yet */
  const endUnderWay = async (userId: string, beat: () => void): Promise<number> => {
    await endSchedules(userId);
    await endHooks(userId);
    await orders.cancelAll({ userId, createdBy: undefined });
    for (const { _id, status } of await store.underWay(userId, PAGE)) {
      beat();
      // Nothing is decided yet: a moment later it runs, or was refused.
      if (status !== "accepted") await unlessNotFound(cancellation.cancel(_id, userId));
    }
    return store.countOpen(userId);
  };

  return { endSchedules, endHooks, endUnderWay };
};

export type Ending = ReturnType<typeof createEnding>;
