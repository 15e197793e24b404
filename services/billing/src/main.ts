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
import { billing as proto } from "@nodeloom/proto";
import { database } from "./database";
import { createBilling } from "./billing";
import { billingHandlers } from "./server";
import { createStore } from "./store";

/** Accounts, holds, the ledger and trial grants. */
export const service = defineService({
  name: "billing",
  database,
  variables: {
    MONGODB_URI: variables.MONGODB_URI,
    MONGODB_DATABASE_PREFIX: variables.MONGODB_DATABASE_PREFIX,
    BILLING_LISTEN: hostPort().default("127.0.0.1:50054").describe("where billing's gRPC server listens"),
  },
  start: async ({ config, logger }) => {
    const connection = await openDatabase(database, config, logger);
    const store = createStore(connection);
    const billing = createBilling({ store, logger });
    billing.start();
    const grpc = await startGrpcServer({
      listen: config.BILLING_LISTEN,
      services: [grpcService(proto.BillingServiceService, billingHandlers(billing))],
      logger,
      tls: config,
    });
    return {
      ports: { BILLING_LISTEN: grpc.port },
      checks: { mongodb: () => isConnected(connection) },
      stop: async () => {
        await grpc.stop();
        await billing.stop();
        await connection.close();
      },
    };
  },
});

if (require.main === module) void runProcess([service]);
