import { defineService, grpcService, openDatabase, runProcess, serveGrpc } from "@nodeloom/platform";
import { accountExports, batches, bundles, erasures, executions, mail } from "@nodeloom/proto";
import { variables } from "./config";
import { database } from "./database";
import { wire } from "./wiring";
import { accountExportsHandlers, batchesHandlers, bundlesHandlers, erasuresHandlers, executionsHandlers, mailHandlers } from "./server";

export const service = defineService({
  name: "executions",
  database,
  variables,
  start: async ({ config, logger }) => {
    const connection = await openDatabase(database, config, logger);
    const wired = await wire(config, connection, logger);
    // Calls of runs can use the whole grace period.
    return serveGrpc({
      service: grpcService(executions.ExecutionsServiceService, executionsHandlers(wired.handlers)),
      more: [
        grpcService(batches.BatchesServiceService, batchesHandlers(wired.handlers)),
        grpcService(bundles.BundlesServiceService, bundlesHandlers(wired.handlers)),
        grpcService(mail.MailServiceService, mailHandlers(wired.handlers)),
        grpcService(erasures.ErasuresServiceService, erasuresHandlers(wired.handlers)),
        grpcService(accountExports.AccountExportsServiceService, accountExportsHandlers(wired.handlers)),
      ],
      config,
      listen: "EXECUTIONS_LISTEN",
      connection,
      logger,
      drain: wired.drain,
      stop: wired.stop,
    });
  },
});

if (require.main === module) void runProcess([service]);
