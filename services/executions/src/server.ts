import { invalidRequest, LIMITS } from "@nodeloom/kernel";
import { clientStream, fromCursor, pieces, requestContext, serverStream, unary } from "@nodeloom/platform";
import { executions, type accountExports, type batches, type bundles, type erasures, type mail } from "@nodeloom/proto";
import type { Orders } from "./batches/orders";
import type { BatchReads } from "./batches/reads";
import type { TestReads } from "./batches/tests/reads";
import type { TestRunning } from "./batches/tests/running";
import { batchMessage } from "./batches/view";
import type { BundleExports } from "./bundles/exporting";
import type { BundleImports } from "./bundles/importing";
import type { Notifications, Triggers } from "./clients";
import type { Quotes } from "./accept/quotes";
import type { Refusals } from "./moderation/reads";
import type { Runs } from "./accept/runs";
import type { Cancellation } from "./accept/cancellation";
import type { Decide } from "./accept/decide";
import type { DecisionLinks } from "./reads/decision-links";
import type { Queue } from "./lifecycle/queue";
import type { Reads } from "./reads/reads";
import type { RunStatus } from "./run/states";
import type { Stores } from "./record/stores";
import { executionMessage } from "./reads/view";
import { movedTriggersHandlers } from "./upkeep/moved-triggers";
import type { AccountExports } from "./maintenance/export/exports";
import type { RunDeletion } from "./erasure/deletion";
import type { ManyErasures } from "./erasure/many";
import type { Watch } from "./reads/watch";
import type { HandOver } from "./webhooks/hand-over";

const STATUSES: readonly string[] = ["processing", "cancel_requested", "completed", "failed", "cancelled"];

const readStatus = (status: string): RunStatus | undefined => {
  if (status === "") return undefined;
  if (STATUSES.includes(status)) return status as RunStatus;
  throw invalidRequest([{ path: "status", message: `must be one of: ${STATUSES.join(", ")}` }]);
};

export interface HandlerOptions {
  runs: Runs;
  quotes: Quotes;
  watch: Watch;
  cancellation: Cancellation;
  decide: Decide;
  decisionLinks: DecisionLinks;
  runDeletion: RunDeletion;
  manyErasures: ManyErasures;
  reads: Reads;
  stores: Stores;
  webhooks: Pick<HandOver, "redeliver">;
  webhookMessage: (request: executions.GetWebhookMessageRequest) => Promise<executions.WebhookMessage | undefined>;
  notifications: Pick<Notifications, "send" | "getMail" | "testWebhook">;
  queue: Pick<Queue, "resize">;
  /** Cancels runs of suspended accounts, and applies changed tiers. */
  applyAccountChanges: () => Promise<void>;
  batches: { orders: Orders; reads: BatchReads; testRunning: TestRunning; testReads: TestReads };
  testProviderKey: (name: string) => Promise<executions.TestProviderKeyResponse>;
  triggers: Triggers;
  moderation: Refusals;
  accountExports: Pick<AccountExports, "get">;
  importBundle: BundleImports;
  exportBundle: BundleExports;
}

export const executionsHandlers = (options: HandlerOptions): executions.ExecutionsServiceServer => ({
  run: unary(async (request) => {
    const { row, isReplay } = await options.runs.run(request, requestContext()?.deadlineMs);
    return {
      execution: executionMessage(await options.stores.log.whole(row)),
      replayed: isReplay,
      answeredAccepted: row.answered === "accepted",
      answeredFailure: row.answered === "failure",
    };
  }),
  quote: unary((request) => options.quotes.quote(request)),
  getExecution: unary(async ({ executionId, userId }) => ({ execution: await options.reads.get(executionId, userId) })),
  getExecutionGraph: unary(({ executionId, userId }) => options.reads.graph(executionId, userId)),
  deleteExecution: unary(async ({ executionId, userId, metadata }) => {
    await options.runDeletion(executionId, userId, metadata);
    return {};
  }),
  cancelExecution: unary(async ({ executionId, userId }) => ({ status: await options.cancellation.cancel(executionId, userId) })),
  cancelQueued: unary(async ({ userId }) => ({ cancelled: await options.cancellation.cancelQueued(userId) })),
  decideExecution: unary((request) => options.decide(request)),
  createDecisionLink: unary(async (request) => ({ link: await options.decisionLinks.create(request) })),
  getDecisionLink: unary(({ token }) => options.decisionLinks.get(token)),
  decideByLink: unary(async (request) => ({ decided: await options.decisionLinks.decide(request) })),
  countWaiting: unary(async ({ userId }) => ({ waiting: await options.stores.approvals.count(userId) })),
  setConcurrency: unary(async ({ userId, concurrency }) => {
    await options.queue.resize(userId, concurrency);
    return {};
  }),
  applyAccountChanges: unary(async () => {
    await options.applyAccountChanges();
    return {};
  }),
  listExecutions: unary(
    async ({ userId, status, workflowSlug, limit, cursor, metadata, createdAfter, createdBefore, waiting, batchId }) => {
      const size = Math.min(limit || LIMITS.pageDefault, LIMITS.usagePageRows);
      const rows = options.stores.rows.list({
        userId: userId || null,
        status: readStatus(status),
        workflowSlug: workflowSlug || undefined,
        metadata,
        batchId: batchId || undefined,
        createdAfter,
        createdBefore,
        isWaiting: waiting,
        limit: size + 1,
        before: fromCursor(cursor),
      });
      return options.reads.page(rows, size);
    },
  ),
  watchExecution: serverStream(({ executionId, userId, afterSequence }, signal) =>
    options.watch(executionId, userId, afterSequence, signal),
  ),
  redeliverWebhook: unary(async ({ executionId, userId }) => ({
    webhookDelivery: executionMessage(await options.webhooks.redeliver(executionId, userId)).webhookDelivery,
  })),
  getWebhookMessage: unary(async (request) => ({ message: await options.webhookMessage(request) })),
  // Gateways of version 1.0.0 still call this method.
  testWebhook: unary(async (request) => executions.TestWebhookResponse.fromPartial(await options.notifications.testWebhook(request))),
  testProviderKey: unary(({ name }) => options.testProviderKey(name)),
  listModeration: unary((request) => options.moderation(request)),
  ...movedTriggersHandlers(options.stores.movedTriggers, options.triggers),
});

/** Gateways of version 1.0.0 still call this service for mails. */
export const mailHandlers = ({ notifications }: HandlerOptions): mail.MailServiceServer => ({
  getMail: unary(() => notifications.getMail({})),
  sendMail: unary(({ id, mail }) => notifications.send({ id, message: mail })),
});

export const accountExportsHandlers = ({ accountExports: exports }: HandlerOptions): accountExports.AccountExportsServiceServer => ({
  getAccountExport: unary(({ userId }) => exports.get(userId)),
});

export const batchesHandlers = ({ batches: { orders, reads, testRunning, testReads } }: HandlerOptions): batches.BatchesServiceServer => ({
  createBatch: unary(async (request) => {
    const { batch, isReplay } = await orders.create(request);
    return { batch: batchMessage(batch), replayed: isReplay };
  }),
  quoteBatch: unary((request) => orders.quote(request)),
  getBatch: unary(async (request) => ({ batch: await reads.get(request) })),
  listBatches: unary((request) => reads.list(request)),
  listBatchRows: unary((request) => reads.rows(request)),
  cancelBatch: unary(async ({ batchId, userId }) => ({ batch: batchMessage(await orders.cancel(batchId, userId)) })),
  cancelBatches: unary(async (request) => ({ cancelled: await orders.cancelAll(request) })),
  resumeBatch: unary(async (request) => ({ batch: batchMessage(await orders.resume(request)) })),
  resumePausedBatches: unary(async ({ userId }) => ({ resumed: await orders.resumePaused(userId) })),
  rerunBatch: unary(async (request) => {
    const { batch, isReplay } = await orders.rerun(request);
    return { batch: batchMessage(batch), replayed: isReplay };
  }),
  runTests: unary(async (request) => {
    const { batch, isReplay } = await testRunning.run(request);
    return { batch: batchMessage(batch), replayed: isReplay };
  }),
  quoteTests: unary((request) => testRunning.quote(request)),
  listTestRuns: unary((request) => testReads.list(request)),
  getTestRun: unary((request) => testReads.get(request)),
  readBatchResults: serverStream((request) => reads.results(request)),
});

export const erasuresHandlers = ({ manyErasures }: Pick<HandlerOptions, "manyErasures">): erasures.ErasuresServiceServer => ({
  createErasure: unary((request) => manyErasures.create(request)),
  getErasure: unary(async (request) => ({ erasure: await manyErasures.get(request) })),
  listErasures: unary((request) => manyErasures.list(request)),
});

async function* bundleChunks(bytes: AsyncIterable<Uint8Array>): AsyncIterable<bundles.ExportBundleResponse> {
  for await (const chunk of pieces(bytes)) yield { chunk };
}

export const bundlesHandlers = ({ importBundle, exportBundle }: HandlerOptions): bundles.BundlesServiceServer => ({
  importBundle: clientStream(importBundle, ({ part }) => part?.$case === "end"),
  exportBundle: serverStream(({ slugs, ownerId }) => bundleChunks(exportBundle(slugs, ownerId))),
});
