import { defineService, openDatabase, runProcess, startGrpcServer, grpcService, isConnected } from "@nodeloom/platform";
import { executions } from "@nodeloom/proto";
import { variables } from "./config";
import { database } from "./database";
import { wire } from "./wiring";
import { executionsHandlers } from "./server";

export const service = defineService({
  name: "executions",
  database,
  variables,
  start: async ({ config, logger }) => {
    const connection = await openDatabase(database, config, logger);
    const wired = await wire(config, connection, logger);
    const grpc = await startGrpcServer({
      listen: config.EXECUTIONS_LISTEN,
      services: [grpcService(executions.ExecutionsServiceService, executionsHandlers(wired.handlers))],
      logger,
      tls: config,
    });
    return {
      ports: { EXECUTIONS_LISTEN: grpc.port },
      checks: { mongodb: () => isConnected(connection) },
      stop: async () => {
        // Both at once: calls of runs have the whole grace, whoever waits for them.
        await Promise.all([grpc.stop(), wired.drain()]);
        await wired.stop();
        await connection.close();
      },
    };
  },
});

if (require.main === module) void runProcess([service]);
