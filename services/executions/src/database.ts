import { defineDatabase, FIRST_VERSION, temporalServer, temporalVariables } from "@nodeloom/platform";
import { createStores } from "./record/stores";
import { prepareTemporal } from "./workflow/prepare";

/**
 * Runs with their calls, payloads and lines; and in Temporal the search attributes that runs carry, and the schedules. The version
 * goes up with every change of any of them.
 */
export const database = defineDatabase({
  service: "executions",
  version: FIRST_VERSION + 3,
  declare: (connection) => void createStores(connection),
  variables: temporalVariables,
  others: (config) => prepareTemporal({ ...temporalServer(config), taskQueue: config.TEMPORAL_TASK_QUEUE }),
});
