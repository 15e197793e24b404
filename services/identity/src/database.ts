import { defineDatabase, FIRST_VERSION } from "@nodeloom/platform";
import { createStore } from "./store";

/** Users, organizations, tiers, keys, secrets, sign-ins and the audit. Increase the version with every change to a collection's indexes. */
export const database = defineDatabase({
  service: "identity",
  version: FIRST_VERSION + 5,
  declare: (connection) => void createStore(connection),
});
