import { createErasure, untilNone, type Erase } from "@nodeloom/platform";
import { isErased } from "./account/erase";
import type { GroupCommit } from "./group-commit";
import type { Outbox } from "./ledger/outbox";
import type { BillingStore } from "./store";

export interface ErasureDependencies {
  store: Pick<BillingStore, "load" | "emptyRows" | "removeCounters">;
  groupCommit: Pick<GroupCommit, "submit">;
  outbox: Pick<Outbox, "flush">;
  clock: () => Date;
}

/** Erases personal data from an account. The account and its ledger keep only ids and amounts, so that totals stay correct. */
export const createEraseBilling = ({ store, groupCommit, outbox, clock }: ErasureDependencies): Erase => {
  /** All runs have ended, so open holds are orphaned and can be released. */
  const emptyAccount = async (userId: string): Promise<number> => {
    const account = await store.load(userId);
    if (!account || isErased(account)) return 0;
    for (const { executionId } of account.holds)
      await groupCommit.submit({ type: "settle", at: clock(), userId, executionId, items: [], captureAll: false });
    await groupCommit.submit({ type: "erase", at: clock(), userId });
    return 1;
  };

  return createErasure<"billing">((userId) => ({
    accounts: async () => ({ removed: await emptyAccount(userId), next: "" }),
    ledger: async () => {
      await outbox.flush(userId);
      return untilNone(await store.emptyRows(userId));
    },
    counters: async () => untilNone(await store.removeCounters(userId)),
  }));
};
