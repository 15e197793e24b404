import { defineDatabase, FIRST_VERSION } from "@nodeloom/platform";
import { createPaymentStore } from "./payments/payment-store";
import { createStore } from "./store";

/**
 * Accounts, the ledger, its checkpoints, counters of default budgets, and purchases. Raise the version with every change to a collection's
 * indexes.
 */
export const database = defineDatabase({
  service: "billing",
  version: FIRST_VERSION + 3,
  declare: (connection) => {
    createStore(connection);
    createPaymentStore(connection);
  },
});
