import { batches as proto } from "@nodeloom/proto";
import { FINAL_BATCHES, type BatchRecord, type BatchRow } from "../run/batch";
import { outageReason, type BatchReason } from "../run/batch-reasons";
import { metadataOf } from "../run/record";
import { itemExecutionId } from "./item";

const isOver = ({ status }: BatchRecord): boolean => FINAL_BATCHES.includes(status);

/** Returns the state of a row. Before the item starts, the batch's state determines it. */
export const statusOfRow = (batch: BatchRecord, { index, status }: BatchRow): string => {
  if (status !== undefined) return status;
  if (isOver(batch)) return "skipped";
  return batch.underWay.some((item) => item.index === index) ? "processing" : "waiting";
};

const reasonOf = ({ status, reason, outage }: BatchRecord): BatchReason | null =>
  reason ?? (status === "running" && outage ? outageReason(outage.model) : null);

export const batchMessage = (batch: BatchRecord): proto.Batch => {
  const { target, counts, total, underWay, runner, webhook, maxMillicredits } = batch;
  const reason = reasonOf(batch);
  const endedCount = counts.completed + counts.failed + counts.cancelled;
  return proto.Batch.fromPartial({
    ...counts,
    batchId: batch._id,
    userId: batch.userId,
    status: batch.status,
    reason: reason?.code ?? "",
    reasonMessage: reason?.message ?? "",
    reasonScope: reason?.scope,
    ...(target.$case === "workflowSlug" ? { workflowSlug: target.value } : { model: target.value }),
    version: Number(batch.version) || 0,
    alias: batch.alias,
    until: batch.until ?? "",
    total,
    processing: underWay.length,
    waiting: total - endedCount - underWay.length,
    millicredits: batch.spent,
    estimatedMillicredits: batch.price.estimated,
    exact: batch.price.isExact,
    ...(maxMillicredits === undefined ? {} : { maxMillicredits }),
    metadata: metadataOf(batch.metadata),
    source: runner.source,
    madeBy: runner.personId || batch.userId,
    createdAt: batch.createdAt,
    ...(batch.finishedAt ? { finishedAt: batch.finishedAt } : {}),
    concurrency: batch.concurrency,
    stopOnError: batch.stopsOnError,
    rerunOf: batch.rerunOf ?? "",
    retentionDays: batch.retentionDays,
    ...(webhook
      ? {
          webhook: {
            ...{ url: webhook.url, state: webhook.state, attempts: webhook.attempts },
            deliveredAt: webhook.deliveredAt ?? undefined,
            lastError: webhook.lastError ?? undefined,
          },
        }
      : {}),
  });
};

/** @param texts inputs and results of the row; empty if there are none or they have been deleted */
export const rowMessage = (
  batch: BatchRecord,
  row: BatchRow,
  texts: { inputsJson: string; settingsJson: string; resultJson: string },
): proto.BatchRow =>
  proto.BatchRow.fromPartial({
    index: row.index,
    executionId: itemExecutionId(batch._id, row.index),
    status: statusOfRow(batch, row),
    millicredits: row.millicredits ?? 0,
    errorCode: row.error?.code ?? "",
    errorMessage: row.error?.message ?? "",
    ...texts,
  });
