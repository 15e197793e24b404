/** Wires the service: stores, clients, worker and relay. */
import { join } from "node:path";
import {
  connectRedis,
  createEgressClient,
  createOutgoingBudget,
  createWindowCounter,
  libraryMetrics,
  OUTGOING_WINDOW_SECONDS,
  redisReady,
  startRelay,
  temporalSecurity,
  type Logger,
  type RelayedRows,
} from "@nodeloom/platform";
import { connectTemporal, createEncryptionCodec } from "@nodeloom/platform/temporal";
import type { Connection } from "mongoose";
import { createRelayedAudit } from "./audit-rows";
import { createRelayedAlerts } from "./credit-alerts";
import { connectServices } from "./clients";
import type { Config } from "./config";
import { createStores } from "./database";
import { createMailing } from "./mail";
import type { HandlerOptions } from "./server";
import { createDeliveries } from "./webhooks/deliveries";
import { createEndpoints } from "./webhooks/endpoints";
import { createWebhooks } from "./webhooks/webhooks";
import { createActivities } from "./temporal/activities";
import { createStarter } from "./temporal/client";

/** The prebuilt workflow bundle, for code in src/ and in dist/. */
export const bundlePath = join(__dirname, "..", "dist", "workflow-bundle.js");

export interface Wiring {
  handlers: HandlerOptions;
  drain(): Promise<void>;
  stop(): Promise<void>;
}

const connectWorker = async (config: Config, taskQueue: string, logger: Logger) =>
  connectTemporal({
    address: config.TEMPORAL_ADDRESS,
    security: temporalSecurity(config),
    namespace: config.TEMPORAL_NAMESPACE,
    taskQueue,
    dataConverter: { payloadCodecs: [createEncryptionCodec(config.TEMPORAL_PAYLOAD_KEYS)] },
    logger,
    workflowBundle: { codePath: bundlePath },
    metrics: await libraryMetrics(),
    shutdownGraceMs: config.SHUTDOWN_GRACE_MS,
  });

export const wire = async (config: Config, connection: Connection, logger: Logger): Promise<Wiring> => {
  const { identity, addresses, executions, billing } = connectServices(config);
  const redis = connectRedis({ url: config.REDIS_URL, logger });
  await redisReady(redis);
  const stores = createStores(connection);
  const egress = createEgressClient({ allow: config.USER_EGRESS_ALLOW });
  const taskQueue = `${config.TEMPORAL_TASK_QUEUE}-notifications`;
  const temporal = await connectWorker(config, taskQueue, logger);
  const starter = createStarter({ client: temporal.client, taskQueue });
  const counts = { redis, keyPrefix: `${config.REDIS_KEY_PREFIX}outgoing`, windowSeconds: OUTGOING_WINDOW_SECONDS };
  const outgoing = createOutgoingBudget({ counter: createWindowCounter(counts) });
  const deliveries = createDeliveries({ store: stores.deliveries, identity, starter, logger });
  const endpoints = createEndpoints({ identity, deliveries, store: stores.deliveries, outgoing });
  const mailing = createMailing({
    config: { ...config, MAIL_KEYS: config.MAIL_KEYS.length > 0 ? config.MAIL_KEYS : config.TEMPORAL_PAYLOAD_KEYS },
    ...{ store: stores.mails, addresses, executions, starter, redis, logger },
  });
  const webhooks = createWebhooks({ store: stores.deliveries, identity, executions, egress, outgoing, mails: mailing.queue, logger });
  await temporal.work(createActivities({ webhooks, deliverMail: mailing.deliver }));

  const alerts = createRelayedAlerts({ billing, identity, deliveries, endpoints, mails: mailing.queue });
  const auditRows = createRelayedAudit({ identity, endpoints });
  const owing = [deliveries.unstarted, alerts, auditRows, ...(mailing.queue ? [mailing.queue.unstarted] : [])] as RelayedRows<unknown>[];
  const relay = startRelay(owing, { service: "notifications", connection, logger });
  return {
    handlers: { deliveries, endpoints, webhooks, identity, mails: mailing.queue, stores, executionDays: config.RETENTION_EXECUTIONS_DAYS },
    drain: async () => void (await Promise.all([relay.stop(), temporal.drain()])),
    stop: async () => {
      await temporal.close();
      for (const client of [identity, addresses, executions, billing]) client.close();
      redis.disconnect();
      await egress.close();
    },
  };
};
