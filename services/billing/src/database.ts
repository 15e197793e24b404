import { defineDatabase, FIRST_VERSION } from "@nodeloom/platform";
import { createPaymentStore } from "./payments/payment-store";
import { createStore } from "./store";

/** Accounts, the ledger and its checkpoints, purchases. The version goes up with every change of a collection's indexes. */
export const database = defineDatabase({
  service: "billing",
  version: FIRST_VERSION + 2,
  declare: (connection) => {
    createStore(connection);
    createPaymentStore(connection);
  },
});
