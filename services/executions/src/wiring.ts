import { createMediaUrls, mediaPrefix } from "@nodeloom/kernel";
import { createSlots, type Logger } from "@nodeloom/platform";
import type { Connection } from "mongoose";
import { createDecide } from "./accept/decide";
import { createQuotes } from "./accept/quotes";
import { STARTS } from "./accept/runs";
import { wireAccept } from "./accept/wire";
import { createBatches } from "./batches";
import { createBatchActivities } from "./batches/activities";
import { wireBundles } from "./bundles/wire";
import { wireCalls } from "./calls-wiring";
import { connectErasures, connectServices } from "./clients";
import type { Config } from "./config";
import { createRunErasure } from "./erasure/runs";
import { wireErasure } from "./erasure/wire";
import { createCanaries } from "./lifecycle/canaries";
import { createExecution } from "./lifecycle/execution";
import { createUsageReports } from "./lifecycle/usage-reports";
import { wireLifecycle } from "./lifecycle/wire";
import { watchLoad } from "./meters";
import { createRefusals } from "./moderation/reads";
import { createModelCatalog } from "./plan/model-catalog";
import { wirePlanning } from "./plan/wire";
import { createDecisionLinks, createMailApprovers } from "./reads/decision-links";
import { createReads } from "./reads/reads";
import { createWatch } from "./reads/watch";
import { wireRecord } from "./record/wire";
import { CANCEL_REQUESTED } from "./run/states";
import type { HandlerOptions } from "./server";
import { createLeaving } from "./maintenance/leaving";
import { wireUpkeep } from "./upkeep/wire";
import { createAnnounceBatch, createHandOver } from "./webhooks/hand-over";
import { createWebhookMessage } from "./webhooks/message";
import { createActivities } from "./workflow/activities";
import { createApprovalActivities } from "./workflow/approval-activities";
import { createLeavingActivities } from "./workflow/leaving-activities";
import { wireWorkflow } from "./workflow/wire";

export interface Wiring {
  handlers: HandlerOptions;
  /** Stops taking new work. Within the grace period, calls under way finish or move to another process. */
  drain(): Promise<void>;
  stop(): Promise<void>;
}

/** Clients of other services, stores and the rooms below the workflows. */
const wireBase = async (config: Config, connection: Connection, logger: Logger) => {
  const services = connectServices(config);
  const record = await wireRecord(config, connection, logger);
  const execution = createExecution(record);
  const catalog = createModelCatalog(services.models);
  const urls = createMediaUrls(config.PUBLIC_BASE_URL, config.FORMER_PUBLIC_BASE_URLS);
  // Addresses passed to providers follow the rules for addresses that users enter.
  const addresses = { allow: config.USER_EGRESS_ALLOW, own: mediaPrefix(config.PUBLIC_BASE_URL) };
  const base = { services, erasures: connectErasures(config), execution, catalog, urls, addresses, logger, ...record };
  return { ...base, calls: await wireCalls({ ...base, config }), workflow: await wireWorkflow({ ...base, config }) };
};

type Base = Awaited<ReturnType<typeof wireBase>>;

/** Runs from their acceptance to their end, and what callers read of them. */
const wireRuns = (config: Config, base: Base) => {
  const { services, stores, erasures, channel, addresses, calls, workflow, logger } = base;
  const { notifications, media } = services;
  const webhooks = createHandOver({ notifications, stores });
  const lifecycle = wireLifecycle({
    ...{ ...base, billing: services.billing, starter: workflow.starter, webhooks },
    canaries: createCanaries(services),
    erase: createRunErasure({ stores, media, erasures, leaver: workflow.leaver }),
    mailApprovers: createMailApprovers({ addresses: services.addresses, notifications, logger }),
    reports: createUsageReports(services.usage),
    files: { media, own: addresses.own },
  });
  const { planning, threads } = wirePlanning({ ...base, ...calls });
  const starts = createSlots(STARTS);
  const accept = wireAccept({
    ...{ ...base, ...workflow, lifecycle, planning, starts, reruns: calls.reruns },
    checkRun: calls.moderation?.checkRun,
    workflows: services.workflows,
    own: addresses.own,
  });
  const reads = createReads(stores, accept.awaitDelivered, webhooks.runs);
  const batches = createBatches({
    ...{ ...base, ...accept, planning, reruns: calls.reruns, nextTrial: calls.nextTrial, starter: workflow.batchStarter },
    ...{ withDeliveries: webhooks.batches, publicBaseUrl: config.PUBLIC_BASE_URL },
  });
  const watch = createWatch(stores, channel, calls.textStreams, accept.awaitDelivered);
  return { ...accept, webhooks, lifecycle, planning, threads, starts, reads, batches, watch };
};

type Runs = ReturnType<typeof wireRuns>;

/** Activities that a run's workflow calls. `stopping` aborts when the process drains. */
const wireRunActivities = (
  { stores, channel, execution, calls, logger }: Base,
  { lifecycle, batches, webhooks }: Runs,
  stopping: AbortSignal,
) => ({
  ...createActivities({
    ...{ execution, logger, stopping, ...lifecycle, ...calls.calls },
    ...{ calls: stores.calls, rows: stores.rows, outgoing: calls.outgoing, reuseCalls: calls.reuseCalls },
    onCancel: (executionId, listener) =>
      channel.onTransition(executionId, ({ type }) => {
        if (type === CANCEL_REQUESTED) listener();
      }),
  }),
  ...createApprovalActivities({ approvals: lifecycle.approvals, stores }),
  ...createBatchActivities({ carry: batches.carry, announce: createAnnounceBatch({ batches: stores.batches, webhooks }), stopping }),
});

export const wire = async (config: Config, connection: Connection, logger: Logger): Promise<Wiring> => {
  const base = await wireBase(config, connection, logger);
  const { services, erasures, stores, calls, urls, addresses, workflow } = base;
  const { temporal } = workflow;
  const runs = wireRuns(config, base);
  const { lifecycle, reads } = runs;
  const stopping = new AbortController();
  const endWatch = watchLoad({
    ...calls.watched,
    pools: { starts: runs.starts, planning: runs.threads, ...calls.watched.pools },
  });
  const shared = { ...base, ...workflow, ...runs };
  const erasure = wireErasure({ ...shared, outbox: lifecycle.outbox });
  const leaving = createLeaving({ ...shared, stopAccount: erasure.stopAccount });
  const bundles = wireBundles({ ...base, starter: workflow.bundleStarter });
  const upkeep = wireUpkeep({ ...shared, ...erasure, connection, executionDays: config.RETENTION_EXECUTIONS_DAYS });
  await temporal.work({
    ...wireRunActivities(base, runs, stopping.signal),
    ...bundles.activities,
    ...createLeavingActivities(leaving.activities),
    ...upkeep.activities,
  });
  const repairs = upkeep.start();
  return {
    handlers: {
      ...runs,
      ...bundles.handlers,
      stores,
      decisionLinks: createDecisionLinks({ stores, approvals: lifecycle.approvals, addresses: services.addresses }),
      decide: createDecide({ stores, approvals: lifecycle.approvals, media: services.media, own: addresses.own }),
      applyAccountChanges: upkeep.applyAccountChanges,
      runDeletion: erasure.runDeletion,
      manyErasures: erasure.manyErasures,
      quotes: createQuotes({ planning: runs.planning, reruns: calls.reruns, billing: services.billing }),
      webhookMessage: createWebhookMessage({
        ...{ stores, urls, details: reads.details, media: services.media },
        publicBaseUrl: config.PUBLIC_BASE_URL,
      }),
      notifications: services.notifications,
      queue: lifecycle.queue,
      testProviderKey: calls.testProviderKey,
      triggers: services.triggers,
      moderation: createRefusals(stores.moderation, calls.moderation !== undefined),
      accountExports: leaving.exports,
    },
    drain: async () => {
      stopping.abort();
      await Promise.all([repairs.stop(), temporal.drain()]);
      await base.execution.flush();
      await lifecycle.outbox.drain();
    },
    stop: async () => {
      endWatch();
      await temporal.close();
      await runs.threads.stop();
      for (const client of [...Object.values(services), ...Object.values(erasures)]) client.close();
      await calls.close();
      base.close();
    },
  };
};
