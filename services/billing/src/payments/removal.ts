import { expiresBefore, RETENTION } from "@nodeloom/kernel";
import { untilNone, type RemoveStep } from "@nodeloom/platform";
import type { PaymentStore } from "./payment-store";

type Store = Pick<PaymentStore, "removeCheckouts" | "removeUnclaimed">;

/** Removes expired purchase data. */
export const paymentRemovals = (store: Store, clock: () => Date = () => new Date()): Record<string, RemoveStep> => ({
  checkouts: async () => untilNone(await store.removeCheckouts(expiresBefore(RETENTION.checkouts, clock()))),
  unclaimedPayments: async () => untilNone(await store.removeUnclaimed(expiresBefore(RETENTION.unclaimedPayments, clock()))),
});
