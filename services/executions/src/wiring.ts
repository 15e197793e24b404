import { join } from "node:path";
import { createMediaUrls, mediaPrefix } from "@nodeloom/kernel";
import {
  connectRedis,
  createSlots,
  libraryMetrics,
  redisReady,
  startRelay,
  temporalSecurity,
  type Logger,
  workerSize,
} from "@nodeloom/platform";
import { connectTemporal, createEncryptionCodec } from "@nodeloom/platform/temporal";
import type { Connection } from "mongoose";
import { createEventChannel } from "./record/channel";
import { createBatches } from "./batches";
import { createBundleActivities } from "./bundles/activities";
import { createBundleExports } from "./bundles/exporting";
import { createBundleImports } from "./bundles/importing";
import { createStaging } from "./bundles/staging";
import { createDecide } from "./accept/decide";
import { createDecisionLinks, createMailApprovers } from "./reads/decision-links";
import { createCanaries } from "./lifecycle/canaries";
import { createExecution } from "./lifecycle/execution";
import { createRelayed } from "./upkeep/relay";
import { startStuckWatch } from "./upkeep/stuck";
import { createReads } from "./reads/reads";
import { connectErasures, connectServices } from "./clients";
import type { Config } from "./config";
import { watchLoad } from "./meters";
import { createModelCatalog } from "./plan/model-catalog";
import { createQuotes } from "./accept/quotes";
import { STARTS } from "./accept/runs";
import type { HandlerOptions } from "./server";
import { CANCEL_REQUESTED } from "./run/states";
import { createUsageReports } from "./lifecycle/usage-reports";
import { createStores } from "./record/stores";
import { createActivities } from "./workflow/activities";
import { createLeaver } from "./workflow/leaving";
import { createLeavingActivities } from "./workflow/leaving-activities";
import { createUpkeepActivities } from "./workflow/upkeep-activities";
import { createApprovalActivities } from "./workflow/approval-activities";
import { createLeaving } from "./erasure/leaving";
import { createCarrying } from "./erasure/carriers";
import { createManyErasures } from "./erasure/many";
import { createRunDeletion } from "./erasure/deletion";
import { createBurying } from "./erasure/burying";
import { createRunErasure } from "./erasure/runs";
import { createRedisErasure } from "./erasure/redis";
import { createUpkeep } from "./upkeep/upkeep";
import { wireCalls } from "./calls/wire";
import { wireLifecycle } from "./lifecycle/wire";
import { wirePlanning } from "./plan/wire";
import { wireAccept } from "./accept/wire";
import { createRefusals } from "./moderation/reads";
import { createBatchActivities } from "./batches/activities";
import { createFailingTasks } from "./workflow/failing-tasks";
import { createClaimCheckCodec } from "./workflow/claim-check";
import { createBundleStarter } from "./workflow/bundle-client";
import { createBatchStarter, createRunStarter } from "./workflow/client";
import { untilPrepared } from "./workflow/prepare";
import { createWatch } from "./reads/watch";
import { createEarlierMessages } from "./upkeep/earlier-messages";
import { createAnnounceBatch, createHandOver } from "./webhooks/hand-over";
import { createWebhookMessage } from "./webhooks/message";

const WORKFLOW_BUNDLE = join(__dirname, "..", "dist", "workflow-bundle.js");

export interface Wiring {
  handlers: HandlerOptions;
  /** Stops taking new work. Within the grace period, calls under way finish or move to another process. */
  drain(): Promise<void>;
  stop(): Promise<void>;
}

export const wire = async (config: Config, connection: Connection, logger: Logger): Promise<Wiring> => {
  const services = connectServices(config);
  const publisher = connectRedis({ url: config.REDIS_URL, logger });
  const subscriber = connectRedis({ url: config.REDIS_URL, logger, subscriber: true });
  await redisReady(publisher);
  const stores = createStores(connection, { retentionDays: config.RETENTION_EXECUTIONS_DAYS });
  const channel = createEventChannel({ publisher, subscriber, prefix: config.REDIS_KEY_PREFIX, logger });
  const execution = createExecution({ stores, channel });
  const catalog = createModelCatalog(services.models);
  // Addresses passed to providers follow the rules for addresses that users enter.
  const addresses = { allow: config.USER_EGRESS_ALLOW, own: mediaPrefix(config.PUBLIC_BASE_URL) };
  const urls = createMediaUrls(config.PUBLIC_BASE_URL);
  const callParts = await wireCalls({ config, services, stores, redis: publisher, channel, execution, catalog, addresses, urls, logger });
  const { moderation, outgoing, reruns, reuseCalls, textStreams } = callParts;
  const [starts, stopping] = [createSlots(STARTS), new AbortController()];

  const taskQueue = config.TEMPORAL_TASK_QUEUE;
  const temporal = await connectTemporal({
    address: config.TEMPORAL_ADDRESS,
    security: temporalSecurity(config),
    namespace: config.TEMPORAL_NAMESPACE,
    taskQueue,
    // Encrypted large payloads are stored first, and Temporal gets only a reference.
    dataConverter: { payloadCodecs: [createClaimCheckCodec(stores.payloads), createEncryptionCodec(config.TEMPORAL_PAYLOAD_KEYS)] },
    logger,
    workflowBundle: { codePath: WORKFLOW_BUNDLE },
    prepared: (native) => untilPrepared(native, config.TEMPORAL_NAMESPACE, logger),
    metrics: await libraryMetrics(),
    shutdownGraceMs: config.SHUTDOWN_GRACE_MS,
    size: workerSize(config),
  });
  const starter = createRunStarter({ client: temporal.client, taskQueue });
  const { billing, notifications } = services;
  const webhooks = createHandOver({ notifications, stores });
  const leaver = createLeaver({ client: temporal.client, namespace: config.TEMPORAL_NAMESPACE, taskQueue });
  const erasures = connectErasures(config);
  const redisErasure = createRedisErasure({ redis: publisher, keyPrefix: config.REDIS_KEY_PREFIX });
  const lifecycle = wireLifecycle({
    ...{ stores, execution, billing, starter, webhooks, logger },
    canaries: createCanaries(services),
    erase: createRunErasure({ stores, media: services.media, erasures, leaver, redis: redisErasure }),
    mailApprovers: createMailApprovers({ addresses: services.addresses, notifications, logger }),
    reports: createUsageReports(services.usage),
    files: { media: services.media, own: addresses.own },
  });
  const { holds, queue, outbox, approvals, end, abandon } = lifecycle;
  const tasks = createFailingTasks({ client: temporal.client, taskQueue, build: temporal.build });
  const { planning, threads } = wirePlanning({ services, stores, catalog, addresses, urls, logger, ...callParts });
  const endWatch = watchLoad({ ...callParts.watched, pools: { starts, planning: threads, ...callParts.watched.pools } });
  const { awaitDelivered, runs, cancellation } = wireAccept({
    ...{ stores, channel, execution, lifecycle, planning, reruns, starter, starts, tasks },
    checkRun: moderation?.checkRun,
    workflows: services.workflows,
    own: addresses.own,
  });
  const reads = createReads(stores, awaitDelivered, webhooks.runs);
  const batchStarter = createBatchStarter({ client: temporal.client, taskQueue });
  const batches = createBatches({
    ...{ stores, services, planning, reruns, catalog, runs, cancellation, channel, urls, logger },
    ...{ nextTrial: callParts.nextTrial, starter: batchStarter, withDeliveries: webhooks.batches, publicBaseUrl: config.PUBLIC_BASE_URL },
  });
  const leaving = createLeaving({
    ...{ stores, services, erasures, batches, cancellation, reads, leaver, logger },
    redis: redisErasure,
  });
  const staging = createStaging({ media: services.media, payloads: stores.payloads, urls });
  const earlier = createEarlierMessages({ stores, notifications, webhooks, logger });
  await temporal.work({
    ...createActivities({
      holds,
      calls: stores.calls,
      rows: stores.rows,
      end,
      execution,
      ...callParts.calls,
      outgoing,
      reuseCalls,
      onCancel: (executionId, listener) =>
        channel.onTransition(executionId, ({ type }) => {
          if (type === CANCEL_REQUESTED) listener();
        }),
      logger,
      stopping: stopping.signal,
    }),
    ...createApprovalActivities({ approvals, stores }),
    ...createBatchActivities({
      carry: batches.carry,
      announce: createAnnounceBatch({ batches: stores.batches, webhooks }),
      stopping: stopping.signal,
    }),
    ...createBundleActivities({ workflows: services.workflows, staging }),
    ...createLeavingActivities(leaving.activities),
    ...earlier.activities,
    ...createUpkeepActivities({
      ...createUpkeep({
        ...{ stores, services, starter, end, logger, moveLate: earlier.moveLate, pendingOf: webhooks.pending },
        executionDays: config.RETENTION_EXECUTIONS_DAYS,
      }),
      triggers: services.triggers,
    }),
  });

  const carriersOf = createCarrying(services);
  const relayed = createRelayed({
    stores,
    erasures,
    burying: createBurying({ stores, outbox, erasures, leaver }),
    carriersOf,
    execution,
    end,
    queue,
    outbox,
    starter: batchStarter,
    accountErasure: services.accountErasure,
    leaver,
    logger,
  });
  const relay = startRelay(relayed, { service: "executions", connection, logger });
  const stuckWatch = startStuckWatch({ stores, tasks, starter, abandon, logger });
  return {
    handlers: {
      runs,
      cancellation,
      batches,
      decisionLinks: createDecisionLinks({ stores, approvals, addresses: services.addresses }),
      decide: createDecide({ stores, approvals, media: services.media, own: addresses.own }),
      runDeletion: createRunDeletion({ stores, outbox, awaitDelivered }),
      manyErasures: createManyErasures({ stores, carriersOf }),
      reads,
      quotes: createQuotes({ planning, reruns, billing: services.billing }),
      watch: createWatch(stores, channel, textStreams, awaitDelivered),
      stores,
      webhooks,
      webhookMessage: createWebhookMessage({
        stores,
        details: reads.details,
        publicBaseUrl: config.PUBLIC_BASE_URL,
        urls,
        media: services.media,
      }),
      notifications,
      queue,
      testProviderKey: callParts.testProviderKey,
      triggers: services.triggers,
      moderation: createRefusals(stores.moderation, moderation !== undefined),
      accountExports: leaving.exports,
      importBundle: createBundleImports({
        ...{ workflows: services.workflows, payloads: stores.payloads, staging },
        starter: createBundleStarter({ client: temporal.client, taskQueue }),
      }),
      exportBundle: createBundleExports({ workflows: services.workflows, media: services.media, urls }),
    },
    drain: async () => {
      stopping.abort();
      await Promise.all([relay.stop(), stuckWatch.stop(), temporal.drain()]);
      await execution.flush();
      await outbox.drain();
    },
    stop: async () => {
      endWatch();
      await temporal.close();
      await threads.stop();
      for (const client of [...Object.values(services), ...Object.values(erasures)]) client.close();
      await callParts.close();
      publisher.disconnect();
      subscriber.disconnect();
    },
  };
};
