import { defineService, grpcService, hostPort, openDatabase, runProcess, serveGrpc, variables } from "@nodeloom/platform";
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
    return serveGrpc({
      service: grpcService(proto.BillingServiceService, billingHandlers(billing)),
      config,
      listen: "BILLING_LISTEN",
      connection,
      logger,
      stop: billing.stop,
    });
  },
});

if (require.main === module) void runProcess([service]);
