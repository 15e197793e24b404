import { toCredits } from "@nodeloom/kernel";
import type { executions } from "@nodeloom/proto";

/** A date as clients see it. */
const iso = (date: Date | undefined): string | null => date?.toISOString() ?? null;

const errorJson = (error: executions.ExecutionError | undefined): Record<string, unknown> | null =>
  error
    ? {
        code: error.code,
        error: error.message,
        ...(error.nodeId === undefined ? {} : { nodeId: error.nodeId }),
        ...(error.providerStatus === undefined ? {} : { providerStatus: error.providerStatus }),
        ...(error.providerBody === undefined ? {} : { providerBody: error.providerBody }),
      }
    : null;

/** Webhook delivery as submit and poll responses show it. */
export const webhookDeliveryJson = (delivery: executions.WebhookDelivery | undefined, withProgress: boolean): Record<string, unknown> => {
  if (!delivery?.configured) return { configured: false };
  const progress = { attempts: delivery.attempts, deliveredAt: iso(delivery.deliveredAt), lastError: delivery.lastError ?? null };
  return { configured: true, url: delivery.url, ...(withProgress ? progress : {}) };
};

/** An execution as poll responses and webhooks show it. */
export const executionJson = (execution: executions.Execution): Record<string, unknown> => {
  const error = errorJson(execution.error);
  return {
    executionId: execution.executionId,
    status: execution.status,
    requestId: execution.requestId ?? null,
    durationMs: execution.durationMs,
    ...(execution.resultJson === "" ? {} : { result: JSON.parse(execution.resultJson) as unknown }),
    ...(error ? { error } : {}),
    creditsCost: toCredits(execution.millicredits),
    workflowSlug: execution.workflowSlug ?? null,
    modelIds: execution.modelIds,
    source: execution.source,
    createdAt: iso(execution.createdAt),
    finishedAt: iso(execution.finishedAt),
    webhookDelivery: webhookDeliveryJson(execution.webhookDelivery, true),
    nodes: execution.nodes.map((node) => ({
      id: node.id,
      type: node.type,
      status: node.status,
      startedAt: iso(node.startedAt),
      durationMs: node.durationMs ?? null,
      creditsCost: toCredits(node.millicredits),
      error: errorJson(node.error),
      ...(node.warnings.length > 0 ? { warnings: node.warnings } : {}),
      ...(node.cancelReport ? { cancelReport: node.cancelReport } : {}),
    })),
  };
};
