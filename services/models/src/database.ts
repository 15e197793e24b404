import { defineDatabase, FIRST_VERSION } from "@nodeloom/platform";
import { declareOverrides } from "./store";

/** Overrides of the registry. The version goes up with every change of a collection's indexes. */
export const database = defineDatabase({
  service: "models",
  version: FIRST_VERSION,
  declare: (connection) => void declareOverrides(connection),
});
