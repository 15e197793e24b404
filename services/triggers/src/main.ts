import { join } from "node:path";
import {
  addressVariables,
  defineService,
  erasureHandlers,
  grpcService,
  libraryMetrics,
  listenVariable,
  openDatabase,
  runProcess,
  serveGrpc,
  temporalServer,
  temporalVariables,
  variables,
} from "@nodeloom/platform";
import { connectTemporal } from "@nodeloom/platform/temporal";
import { erasure, triggers as proto } from "@nodeloom/proto";
import { createActivities } from "./activities";
import { createArrivals } from "./arrivals-store";
import { connectServices } from "./clients";
import { database, queueOf } from "./database";
import { createEraseTriggers } from "./erasure";
import { createHookStore } from "./hooks/hook-store";
import { createTemporalSchedules } from "./schedules/temporal-schedules";
import { createScheduleStore } from "./schedules/schedule-store";
import { triggersHandlers } from "./server";
import { createTriggers } from "./triggers";

const WORKFLOW_BUNDLE = join(__dirname, "..", "dist", "workflow-bundle.js");

/** Starts workflows without a request by their owners: by schedules and inbound hooks. */
export const service = defineService({
  name: "triggers",
  database,
  variables: {
    ...listenVariable("triggers"),
    MONGODB_URI: variables.MONGODB_URI,
    MONGODB_DATABASE_PREFIX: variables.MONGODB_DATABASE_PREFIX,
    ...temporalVariables,
    ...addressVariables("triggers"),
  },
  start: async ({ config, logger }) => {
    const connection = await openDatabase(database, config, logger);
    const services = connectServices(config);
    const taskQueue = queueOf(config);
    const temporal = await connectTemporal({
      ...{ ...temporalServer(config), taskQueue, logger, workflowBundle: { codePath: WORKFLOW_BUNDLE } },
      ...{ metrics: await libraryMetrics(), shutdownGraceMs: config.SHUTDOWN_GRACE_MS },
    });
    const temporalSchedules = createTemporalSchedules({ client: temporal.client, taskQueue, earlierQueue: config.TEMPORAL_TASK_QUEUE });
    const stores = { schedules: createScheduleStore(connection), hooks: createHookStore(connection) };
    const arrivals = createArrivals(connection, services.executions);
    const triggers = createTriggers({ stores, arrivals, ...services, temporalSchedules, logger });
    await temporal.work(createActivities(triggers));
    return serveGrpc({
      service: grpcService(proto.TriggersServiceService, triggersHandlers(triggers)),
      more: [grpcService(erasure.ErasureServiceService, erasureHandlers(createEraseTriggers(triggers)))],
      config,
      listen: "TRIGGERS_LISTEN",
      connection,
      logger,
      drain: temporal.drain,
      stop: async () => {
        await temporal.close();
        for (const client of Object.values(services)) client.close();
      },
    });
  },
});

if (require.main === module) void runProcess([service]);
