import { defineDatabase, FIRST_VERSION } from "@nodeloom/platform";
import { createStore } from "./store";

/** Accounts, the ledger and its checkpoints. The version goes up with every change of a collection's indexes. */
export const database = defineDatabase({
  service: "billing",
  version: FIRST_VERSION + 1,
  declare: (connection) => void createStore(connection),
});
