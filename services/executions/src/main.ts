import { RETENTION } from "@nodeloom/kernel";
import {
  defineService,
  openDatabase,
  runProcess,
  startGrpcServer,
  grpcService,
  hostPort,
  isConnected,
  variables,
} from "@nodeloom/platform";
import { executions } from "@nodeloom/proto";
import { z } from "zod";
import { database, temporalVariables } from "./database";
import { payloadKeys } from "./temporal/payloads/encryption";
import { wire } from "./wiring";
import { executionsHandlers } from "./server";

const MAX_RETENTION_DAYS = 3_650;

export const service = defineService({
  name: "executions",
  database,
  variables: {
    EXECUTIONS_LISTEN: hostPort().default("127.0.0.1:50056").describe("where the executions service listens"),
    MONGODB_URI: variables.MONGODB_URI,
    MONGODB_DATABASE_PREFIX: variables.MONGODB_DATABASE_PREFIX,
    REDIS_URL: variables.REDIS_URL,
    REDIS_KEY_PREFIX: variables.REDIS_KEY_PREFIX,
    ...temporalVariables,
    TEMPORAL_PAYLOAD_KEYS: payloadKeys().describe(
      "keys (64 hexadecimal digits each, comma separated) under which prompts, settings and results are encrypted in Temporal; the first encrypts, all decrypt. `unencrypted` as one of them takes what is not encrypted, too",
    ),
    PUBLIC_BASE_URL: variables.PUBLIC_BASE_URL,
    PROVIDER_EGRESS_ALLOW: variables.PROVIDER_EGRESS_ALLOW,
    USER_EGRESS_ALLOW: variables.USER_EGRESS_ALLOW,
    RETENTION_EXECUTIONS_DAYS: z.coerce
      .number()
      .int()
      .min(1)
      .max(MAX_RETENTION_DAYS)
      .default(RETENTION.executions.days)
      .describe("days for which executions are kept, with their events, calls, inputs and results"),
    WORKFLOWS_ADDRESS: hostPort().default("127.0.0.1:50052").describe("the workflows service"),
    MODELS_ADDRESS: hostPort().default("127.0.0.1:50053").describe("the models service"),
    BILLING_ADDRESS: hostPort().default("127.0.0.1:50054").describe("the billing service"),
    USAGE_ADDRESS: hostPort().default("127.0.0.1:50055").describe("the usage service"),
    IDENTITY_ADDRESS: hostPort().default("127.0.0.1:50051").describe("the identity service, for webhook targets"),
    MEDIA_ADDRESS: hostPort().default("127.0.0.1:50057").describe("the media service"),
  },
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
