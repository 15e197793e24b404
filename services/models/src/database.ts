import { defineDatabase, FIRST_VERSION } from "@nodeloom/platform";
import { declareServers } from "./servers/store";
import { declareOverrides } from "./store";

/** Overrides of the registry, and model servers. Raise the version with every change to a collection's indexes. */
export const database = defineDatabase({
  service: "models",
  version: FIRST_VERSION + 1,
  declare: (connection) => {
    declareOverrides(connection);
    declareServers(connection);
  },
});
