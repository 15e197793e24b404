import { callsModel } from "@nodeloom/kernel";
import { executions } from "@nodeloom/proto";
import type { WebhookAttempt, WebhookState } from "../contract/delivery";
import type { NodeState, RunError } from "../contract/run-types";
import type { ExecutionView } from "./store";

const date = (ms: number | null): Date | undefined => (ms === null ? undefined : new Date(ms));

const errorMessage = (error: RunError | null): executions.ExecutionError | undefined =>
  error
    ? executions.ExecutionError.fromPartial({
        code: error.code,
        message: error.message,
        nodeId: error.nodeId,
        providerStatus: error.providerStatus,
        providerBody: error.providerBody,
      })
    : undefined;

const isCalling = ({ type }: NodeState): boolean => callsModel(type) || type === "http-request";

/** What planning evaluated was done when the run was received; nobody took its time. */
const timesOf = ({ status, startedAt, durationMs }: NodeState, receivedAt: Date): Pick<NodeState, "startedAt" | "durationMs"> =>
  status === "completed" && startedAt === null ? { startedAt: receivedAt.getTime(), durationMs: 0 } : { startedAt, durationMs };

const nodeMessage = (node: NodeState, receivedAt: Date): executions.NodeState => {
  const { startedAt, durationMs } = timesOf(node, receivedAt);
  return executions.NodeState.fromPartial({
    id: node.id,
    type: node.type,
    status: node.status,
    startedAt: date(startedAt),
    durationMs: durationMs ?? undefined,
    millicredits: node.millicredits,
    error: errorMessage(node.error),
    requestId: node.requestId ?? undefined,
    warnings: node.warnings,
    cancelReport: node.cancelReport ?? "",
    label: node.label ?? "",
    ...(isCalling(node) ? { items: node.items, itemsDone: node.itemsDone } : {}),
  });
};

const attemptMessage = (attempt: WebhookAttempt, submittedUrl: string): executions.WebhookAttempt =>
  executions.WebhookAttempt.fromPartial({
    at: attempt.at,
    status: attempt.status ?? undefined,
    error: attempt.error ?? undefined,
    durationMs: attempt.durationMs,
    delivery: attempt.delivery,
    attempt: attempt.attempt,
    url: attempt.url === submittedUrl ? undefined : attempt.url,
  });

const deliveryMessage = (webhook: WebhookState): executions.WebhookDelivery =>
  executions.WebhookDelivery.fromPartial({
    configured: true,
    url: webhook.url,
    attempts: webhook.attempts,
    deliveredAt: webhook.deliveredAt ?? undefined,
    lastError: webhook.lastError ?? undefined,
    // Executions of before the history was kept have neither.
    state: webhook.state ?? (webhook.deliveredAt ? "delivered" : "pending"),
    history: (webhook.history ?? []).map((attempt) => attemptMessage(attempt, webhook.url)),
    nextAttemptAt: webhook.nextAttemptAt ?? undefined,
  });

/** An execution as it travels between services. */
export const executionMessage = (record: ExecutionView): executions.Execution =>
  executions.Execution.fromPartial({
    executionId: record._id,
    userId: record.userId,
    status: record.status,
    requestId: record.requestId ?? undefined,
    durationMs: record.durationMs ?? Date.now() - record.createdAt.getTime(),
    resultJson: record.resultJson ?? "",
    error: errorMessage(record.error),
    webhookDelivery: record.webhook ? deliveryMessage(record.webhook) : { configured: false },
    nodes: record.nodes.map((node) => nodeMessage(node, record.createdAt)),
    millicredits: record.millicredits,
    workflowSlug: record.workflowSlug ?? undefined,
    modelIds: record.modelIds,
    source: record.source,
    createdAt: record.createdAt,
    finishedAt: record.finishedAt ?? undefined,
    grantUsed: record.grantUsed,
  });
