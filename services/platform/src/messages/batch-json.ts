/** Formats batches for API responses and webhooks. */
import { toCredits } from "@nodeloom/kernel";
import type { batches } from "@nodeloom/proto";

const iso = (date: Date | undefined): string | null => date?.toISOString() ?? null;

const webhookJson = ({ url, state, attempts, deliveredAt, lastError }: batches.BatchWebhook): Record<string, unknown> => ({
  configured: true,
  ...{ url, state, attempts },
  deliveredAt: iso(deliveredAt),
  lastError: lastError ?? null,
});

export const batchJson = (batch: batches.Batch): Record<string, unknown> => ({
  batchId: batch.batchId,
  status: batch.status,
  reason:
    batch.reason === ""
      ? null
      : {
          ...{ code: batch.reason, message: batch.reasonMessage },
          ...(batch.reasonScope === undefined ? {} : { scope: batch.reasonScope }),
        },
  workflowSlug: batch.workflowSlug ?? null,
  version: batch.version || null,
  model: batch.model ?? null,
  until: batch.until || null,
  total: batch.total,
  counts: {
    waiting: batch.waiting,
    processing: batch.processing,
    completed: batch.completed,
    failed: batch.failed,
    cancelled: batch.cancelled,
  },
  creditsCost: toCredits(batch.millicredits),
  estimatedCreditCost: toCredits(batch.estimatedMillicredits),
  exact: batch.exact,
  maxCredits: batch.maxMillicredits === undefined ? null : toCredits(batch.maxMillicredits),
  concurrency: batch.concurrency || null,
  onError: batch.stopOnError ? "stop" : "continue",
  metadata: batch.metadata,
  source: batch.source,
  madeBy: batch.madeBy || null,
  rerunOf: batch.rerunOf || null,
  retentionDays: batch.retentionDays,
  webhookDelivery: batch.webhook ? webhookJson(batch.webhook) : { configured: false },
  createdAt: iso(batch.createdAt),
  finishedAt: iso(batch.finishedAt),
});
