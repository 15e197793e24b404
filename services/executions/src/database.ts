import { defineDatabase, FIRST_VERSION, hostPort, temporalSecurity, temporalSecurityVariables } from "@nodeloom/platform";
import { z } from "zod";
import { createStores } from "./store/stores";
import { prepareTemporal } from "./carry/prepare";

/** Where Temporal is, and what of it is ours. */
export const temporalVariables = {
  TEMPORAL_ADDRESS: hostPort().describe("Temporal's frontend"),
  ...temporalSecurityVariables,
  TEMPORAL_NAMESPACE: z.string().default("default").describe("Temporal namespace"),
  TEMPORAL_TASK_QUEUE: z.string().default("nodeloom").describe("name of the Temporal task queue of the runs"),
};

/**
 * Runs with their calls, payloads and lines; and in Temporal the search attributes that runs carry, and the schedules. The version
 * goes up with every change of any of them.
 */
export const database = defineDatabase({
  service: "executions",
  version: FIRST_VERSION + 2,
  declare: (connection) => void createStores(connection),
  variables: temporalVariables,
  others: (config) =>
    prepareTemporal({
      address: config.TEMPORAL_ADDRESS,
      security: temporalSecurity(config),
      namespace: config.TEMPORAL_NAMESPACE,
      taskQueue: config.TEMPORAL_TASK_QUEUE,
    }),
});
