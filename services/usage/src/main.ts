import {
  defineService,
  erasureHandlers,
  grpcService,
  listenVariable,
  openDatabase,
  runProcess,
  serveGrpc,
  variables,
} from "@nodeloom/platform";
import { erasure, usage as proto } from "@nodeloom/proto";
import { database } from "./database";
import { createEraseMetadata, createEraseRuns, createEraseUsage } from "./erasure-store";
import { createFolding } from "./totals/folding";
import { usageHandlers } from "./server";
import { createStore } from "./store";
import { createTotalsStore } from "./totals/totals-store";
import { createUsage } from "./usage";

/** Stores one row for each run, with lists and distinct models. */
export const service = defineService({
  name: "usage",
  database,
  variables: {
    MONGODB_URI: variables.MONGODB_URI,
    MONGODB_DATABASE_PREFIX: variables.MONGODB_DATABASE_PREFIX,
    ...listenVariable("usage"),
  },
  start: async ({ config, logger }) => {
    const connection = await openDatabase(database, config, logger);
    const store = createStore(connection);
    const totals = createTotalsStore(connection);
    const onError = (error: unknown): void => logger.warn({ err: error }, "totals of usage fell behind; lists stay exact");
    const folding = createFolding({ store, totals, onError });
    const usage = createUsage({ store, totals, folding, latestId: await store.latestId() });
    return serveGrpc({
      service: grpcService(proto.UsageServiceService, usageHandlers(usage)),
      more: [
        grpcService(
          erasure.ErasureServiceService,
          erasureHandlers(createEraseUsage(connection), {
            runs: createEraseRuns(connection),
            metadata: createEraseMetadata(connection),
          }),
        ),
      ],
      config,
      listen: "USAGE_LISTEN",
      connection,
      logger,
      stop: folding.stop,
    });
  },
});

if (require.main === module) void runProcess([service]);
