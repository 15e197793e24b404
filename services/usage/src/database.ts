import { defineDatabase, FIRST_VERSION } from "@nodeloom/platform";
import { createStore } from "./store";
import { createTotalsStore } from "./totals/totals-store";

/** Rows of runs and their totals. Raise the version with every change to a collection's indexes. */
export const database = defineDatabase({
  service: "usage",
  version: FIRST_VERSION + 1,
  declare: (connection) => void [createStore(connection), createTotalsStore(connection)],
});
