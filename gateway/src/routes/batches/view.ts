import { batchJson } from "@nodeloom/platform";
import type { batches } from "@nodeloom/proto";
import { toCredits } from "@nodeloom/kernel";
import { z } from "zod";
import { raw } from "../../http/json";
import { anyObject, credits, runOutputs, timestamp, uuid } from "../../http/schemas";
import { deliveryState, lastError } from "../executions/view";

const count = z.number().int();

const webhookDelivery = z.discriminatedUnion("configured", [
  z.object({ configured: z.literal(false) }),
  z.object({
    configured: z.literal(true),
    url: z.string(),
    state: deliveryState,
    attempts: count,
    deliveredAt: timestamp.nullable(),
    lastError,
  }),
]);

export const batch = z
  .object({
    batchId: uuid,
    status: z.enum(["running", "paused", "cancel_requested", "completed", "failed", "cancelled"]).meta({
      description: "`completed`: every item has ended. `failed`: the batch stopped at the first failed item, because of `onError`",
    }),
    reason: z
      .object({
        code: z.string(),
        message: z.string(),
        scope: z.string().optional().meta({
          description:
            "For `BUDGET_EXCEEDED`: `batch` if the batch's own `maxCredits` is used up, otherwise the scope of the account's budget, for example `account` or `metadata.customer`",
        }),
      })
      .nullable()
      .meta({
        description:
          "Reason for the pause: `BUDGET_EXCEEDED`, `INSUFFICIENT_CREDITS`, … While a running batch waits for the provider of a model: `PROVIDER_UNAVAILABLE`",
      }),
    workflowSlug: z.string().nullable(),
    version: z.number().nullable().meta({ description: "The published version that its items run; null for the draft, and for models" }),
    alias: z.string().nullable().optional().meta({ description: "The alias that selected the version, as on executions" }),
    model: z.string().nullable(),
    until: z.string().nullable().meta({ description: "The node up to which its items run; null for the whole workflow" }),
    total: count,
    counts: z.object({
      waiting: count.meta({ description: "Items that haven't started, or never will if the batch has ended" }),
      processing: count,
      completed: count,
      failed: count,
      cancelled: count,
    }),
    creditsCost: credits.meta({ description: "Cost of the finished items" }),
    estimatedCreditCost: credits.meta({ description: "Quote at its creation" }),
    exact: z.boolean().meta({ description: "True if the quote was exact" }),
    maxCredits: credits.nullable(),
    concurrency: count.nullable(),
    onError: z.enum(["continue", "stop"]),
    metadata: z.record(z.string(), z.string()),
    source: z.string(),
    madeBy: z.string().nullable().meta({ description: "The person who created or last resumed it. The batch stops if they lose access" }),
    rerunOf: uuid.nullable().meta({ description: "Batch of the rows" }),
    webhookDelivery: webhookDelivery.meta({
      description: "Delivery of `batch.completed`, if the batch's webhook, or else the key's, subscribes to it",
    }),
    retentionDays: count.optional().meta({ description: "Days for which it is kept after its end, if they are set" }),
    createdAt: timestamp.nullable(),
    finishedAt: timestamp.nullable(),
  })
  .meta({ id: "Batch" });

export const batchRow = z
  .object({
    index: count,
    executionId: uuid.meta({ description: "Known before the item begins. `GET /api/executions/{id}` returns it once the item has begun" }),
    status: z.enum(["waiting", "processing", "completed", "failed", "cancelled", "skipped"]),
    creditsCost: credits,
    error: z.object({ code: z.string(), message: z.string() }).nullable(),
    inputs: anyObject,
    settings: anyObject.optional(),
    result: runOutputs.optional().meta({ description: "Set on completion" }),
  })
  .meta({ id: "BatchRow" });

export const batchView = (stored: batches.Batch | undefined): Record<string, unknown> => {
  if (!stored) throw new Error("executions answered without a batch");
  return { ...batchJson(stored), alias: stored.alias || null };
};

export const rowView = (row: batches.BatchRow): Record<string, unknown> => ({
  index: row.index,
  executionId: row.executionId,
  status: row.status,
  creditsCost: toCredits(row.millicredits),
  error: row.errorCode === "" ? null : { code: row.errorCode, message: row.errorMessage },
  inputs: raw(row.inputsJson, "{}"),
  settings: row.settingsJson === "" ? undefined : raw(row.settingsJson),
  result: row.resultJson === "" ? undefined : raw(row.resultJson),
});
