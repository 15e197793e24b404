import { toCredits } from "@nodeloom/kernel";
import type { executions } from "@nodeloom/proto";
import { z } from "zod";
import { raw } from "./json";
import { anyObject, credits, iso, timestamp, uuid } from "./schemas";

export const EXECUTION_STATUSES = ["processing", "completed", "failed", "cancelled", "cancel_requested"] as const;
const FINAL: ReadonlySet<string> = new Set(["completed", "failed", "cancelled"]);
export const isFinal = (execution: executions.Execution): boolean => FINAL.has(execution.status);

const executionError = z
  .object({
    code: z.string(),
    message: z.string(),
    nodeId: z.string().optional(),
    providerStatus: z.number().optional(),
    providerBody: z.string().optional(),
  })
  .meta({ id: "ExecutionError" });

export const webhookDelivery = z
  .object({
    configured: z.boolean(),
    url: z.string().optional(),
    attempts: z.number().optional(),
    deliveredAt: timestamp.nullable().optional(),
    lastError: z.string().nullable().optional(),
  })
  .meta({ id: "WebhookDelivery" });

const nodeState = z
  .object({
    id: z.string(),
    type: z.string(),
    status: z.string(),
    startedAt: timestamp.nullable(),
    durationMs: z.number().nullable(),
    creditsCost: credits,
    error: executionError.nullable(),
    requestId: z.string().optional(),
    warnings: z.array(z.string()).optional(),
    cancelReport: z.string().optional(),
  })
  .meta({ id: "NodeState" });

export const execution = z
  .object({
    executionId: uuid,
    status: z.enum(EXECUTION_STATUSES),
    requestId: z.string().nullable(),
    durationMs: z.number(),
    result: anyObject.optional().meta({ description: "Set on completion" }),
    error: executionError.optional().meta({ description: "Set on failure" }),
    webhookDelivery,
    nodes: z.array(nodeState),
    workflowSlug: z.string().nullable(),
    modelIds: z.array(z.string()),
    source: z.string(),
    creditsCost: credits,
    createdAt: timestamp.nullable(),
    finishedAt: timestamp.nullable(),
  })
  .meta({ id: "Execution" });

const errorView = (error: executions.ExecutionError): Record<string, unknown> => ({
  code: error.code,
  message: error.message,
  nodeId: error.nodeId,
  providerStatus: error.providerStatus,
  providerBody: error.providerBody,
});

export const webhookDeliveryView = (delivery: executions.WebhookDelivery | undefined): Record<string, unknown> =>
  delivery?.configured
    ? {
        configured: true,
        url: delivery.url,
        attempts: delivery.attempts,
        deliveredAt: iso(delivery.deliveredAt),
        lastError: delivery.lastError ?? null,
      }
    : { configured: false };

const nodeView = (node: executions.NodeState): Record<string, unknown> => ({
  id: node.id,
  type: node.type,
  status: node.status,
  startedAt: iso(node.startedAt),
  durationMs: node.durationMs ?? null,
  creditsCost: toCredits(node.millicredits),
  error: node.error ? errorView(node.error) : null,
  requestId: node.requestId,
  warnings: node.warnings.length > 0 ? node.warnings : undefined,
  cancelReport: node.cancelReport || undefined,
});

/** An execution as clients see it. */
export const executionView = (stored: executions.Execution): Record<string, unknown> => ({
  executionId: stored.executionId,
  status: stored.status,
  requestId: stored.requestId ?? null,
  durationMs: stored.durationMs,
  result: stored.resultJson === "" ? undefined : raw(stored.resultJson),
  error: stored.error ? errorView(stored.error) : undefined,
  webhookDelivery: webhookDeliveryView(stored.webhookDelivery),
  nodes: stored.nodes.map(nodeView),
  workflowSlug: stored.workflowSlug ?? null,
  modelIds: stored.modelIds,
  source: stored.source,
  creditsCost: toCredits(stored.millicredits),
  createdAt: iso(stored.createdAt),
  finishedAt: iso(stored.finishedAt),
});
