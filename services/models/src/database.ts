import { defineDatabase, FIRST_VERSION } from "@nodeloom/platform";
import { declareServers } from "./servers/store";
import { declareOverrides } from "./store";

/** Overrides of the registry, and servers of models. The version goes up with every change of a collection's indexes. */
export const database = defineDatabase({
  service: "models",
  version: FIRST_VERSION + 1,
  declare: (connection) => {
    declareOverrides(connection);
    declareServers(connection);
  },
});
