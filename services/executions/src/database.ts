import { defineDatabase, FIRST_VERSION, temporalServer, temporalVariables } from "@nodeloom/platform";
import { createStores } from "./record/stores";
import { prepareTemporal } from "./workflow/prepare";

/**
 * Runs with their calls, payloads and log. In Temporal: the search attributes of runs, and the schedules. Raise the version with every
 * change.
 */
export const database = defineDatabase({
  service: "executions",
  version: FIRST_VERSION + 10,
  declare: (connection) => void createStores(connection),
  variables: temporalVariables,
  others: (config) => prepareTemporal({ ...temporalServer(config), taskQueue: config.TEMPORAL_TASK_QUEUE }),
});
