import {
  defineService,
  grpcService,
  hostPort,
  isConnected,
  openDatabase,
  runProcess,
  startGrpcServer,
  variables,
} from "@nodeloom/platform";
import { usage as proto } from "@nodeloom/proto";
import { database } from "./database";
import { createFolding } from "./totals/folding";
import { startMigration } from "./totals/migration";
import { usageHandlers } from "./server";
import { createStore } from "./store";
import { createTotalsStore } from "./totals/totals-store";
import { createUsage } from "./usage";

/** One row per run, with lists and distinct models. */
export const service = defineService({
  name: "usage",
  database,
  variables: {
    MONGODB_URI: variables.MONGODB_URI,
    MONGODB_DATABASE_PREFIX: variables.MONGODB_DATABASE_PREFIX,
    USAGE_LISTEN: hostPort().default("127.0.0.1:50055").describe("where usage's gRPC server listens"),
  },
  start: async ({ config, logger }) => {
    const connection = await openDatabase(database, config, logger);
    const store = createStore(connection);
    const totals = createTotalsStore(connection);
    const onError = (error: unknown): void => logger.warn({ err: error }, "totals of usage fell behind; lists stay exact");
    const folding = createFolding({ store, totals, onError });
    const migration = startMigration({ store, totals, folding, onError });
    const usage = createUsage({ store, totals, folding, migration, latestId: await store.latestId() });
    const grpc = await startGrpcServer({
      listen: config.USAGE_LISTEN,
      services: [grpcService(proto.UsageServiceService, usageHandlers(usage))],
      logger,
      tls: config,
    });
    return {
      ports: { USAGE_LISTEN: grpc.port },
      checks: { mongodb: () => isConnected(connection) },
      stop: async () => {
        await grpc.stop();
        await Promise.all([folding.stop(), migration.stop()]);
        await connection.close();
      },
    };
  },
});

if (require.main === module) void runProcess([service]);
