import { defineDatabase, FIRST_VERSION } from "@nodeloom/platform";
import { createStore } from "./store";

/** Users, organizations, tiers, keys, secrets, sign-ins and the audit log. Increase the version whenever a collection's indexes change. */
export const database = defineDatabase({
  service: "identity",
  version: FIRST_VERSION + 8,
  declare: (connection) => void createStore(connection),
});
