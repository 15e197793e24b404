import { publicError, toCredits } from "@nodeloom/kernel";
import type { executions } from "@nodeloom/proto";

const iso = (date: Date | undefined): string | null => date?.toISOString() ?? null;

const errorJson = (error: executions.ExecutionError): Record<string, unknown> => ({
  code: error.code,
  message: error.message,
  nodeId: error.nodeId,
  providerStatus: error.providerStatus,
  providerBody: error.providerBody,
  item: error.item,
});

const publicCall = <T extends { error?: executions.ExecutionError | undefined; attempts: executions.CallAttempt[] }>(call: T): T => ({
  ...withPublicError(call),
  attempts: call.attempts.map(withPublicError),
});

const withPublicError = <T extends { error?: executions.ExecutionError | undefined }>(part: T): T =>
  part.error ? { ...part, error: publicError(part.error) } : part;

/** Removes values from the graph from an execution's errors. */
export const withPublicErrors = (execution: executions.Execution): executions.Execution => ({
  ...withPublicError(execution),
  nodes: execution.nodes.map((node) => ({ ...publicCall(node), calls: node.calls.map(publicCall) })),
});

const attemptJson = (attempt: executions.WebhookAttempt): Record<string, unknown> => ({
  at: iso(attempt.at),
  status: attempt.status ?? null,
  error: attempt.error ?? null,
  durationMs: attempt.durationMs,
  delivery: attempt.delivery,
  attempt: attempt.attempt,
  url: attempt.url,
});

type DeliveryMember = "state" | "attempts" | "deliveredAt" | "lastError" | "nextAttemptAt" | "history";

/** State of a message, to a webhook of a run or key, or to an endpoint of an account. */
export const deliveryJson = (delivery: Pick<executions.WebhookDelivery, DeliveryMember>): Record<DeliveryMember, unknown> => ({
  state: delivery.state,
  attempts: delivery.attempts,
  deliveredAt: iso(delivery.deliveredAt),
  lastError: delivery.lastError ?? null,
  nextAttemptAt: iso(delivery.nextAttemptAt),
  history: delivery.history.map(attemptJson),
});

export const webhookDeliveryJson = (delivery: executions.WebhookDelivery | undefined): Record<string, unknown> =>
  delivery?.configured ? { configured: true, url: delivery.url, ...deliveryJson(delivery) } : { configured: false };

const json = (text: string): unknown => (text === "" ? undefined : (JSON.parse(text) as unknown));

const triesJson = (attempts: readonly executions.CallAttempt[]): Record<string, unknown>[] | undefined =>
  attempts.length === 0
    ? undefined
    : attempts.map(({ model, error, millicredits }) => ({
        model,
        ...(error ? { error: { code: error.code, message: error.message } } : {}),
        cost: toCredits(millicredits),
      }));

const callJson = (call: executions.NodeCall): Record<string, unknown> => ({
  item: call.item,
  status: call.status === "submitted" ? "processing" : call.status,
  outputs: json(call.outputsJson),
  truncated: call.truncated || undefined,
  error: call.error ? errorJson(call.error) : null,
  creditsCost: toCredits(call.millicredits),
  requestId: call.requestId ?? null,
  reusedFrom: call.reusedFrom || undefined,
  attempts: triesJson(call.attempts),
});

/** The model chosen for a node's task, and the models it could have; no members for other nodes. */
export const routeJson = (
  considered: readonly executions.ConsideredModel[],
): {
  chosen?: string;
  considered?: { model: string; price: number | null; p50Ms: number | null; errorRate: number | null; reason: string }[];
} =>
  considered.length === 0
    ? {}
    : {
        chosen: considered[0]!.model,
        considered: considered.map(({ model, millicredits, p50Ms, errorRate, reason }) => ({
          model,
          price: millicredits === undefined ? null : toCredits(millicredits),
          p50Ms: p50Ms ?? null,
          errorRate: errorRate ?? null,
          reason,
        })),
      };

const nodeJson = (node: executions.NodeState): Record<string, unknown> => ({
  id: node.id,
  type: node.type,
  label: node.label || undefined,
  status: node.status,
  startedAt: iso(node.startedAt),
  durationMs: node.durationMs ?? null,
  creditsCost: toCredits(node.millicredits),
  items: node.items,
  itemsDone: node.itemsDone,
  error: node.error ? errorJson(node.error) : null,
  requestId: node.requestId,
  warnings: node.warnings.length > 0 ? node.warnings : undefined,
  cancelReport: node.cancelReport || undefined,
  outputs: json(node.outputsJson),
  truncated: node.truncated || undefined,
  calls: node.calls.length > 0 ? node.calls.map(callJson) : undefined,
  reusedFrom: node.reusedFrom || undefined,
  attempts: triesJson(node.attempts),
  usage: node.usage,
  ...routeJson(node.considered),
});

/** The person, key or address that decided an approval; null for a time-out, a rerun, and decisions stored by earlier releases. */
export const decidedByJson = ({
  userId,
  keyId,
  address,
}: Pick<executions.Decided, "userId" | "keyId" | "address">): { userId: string } | { keyId: string } | { address: string } | null => {
  if (keyId !== undefined) return { keyId };
  if (userId !== undefined) return { userId };
  return address === undefined ? null : { address };
};

const decidedJson = (decided: executions.Decided): Record<string, unknown> => ({
  nodeId: decided.nodeId,
  decision: decided.isApproved ? "approve" : "reject",
  by: decided.by,
  decidedBy: decidedByJson(decided),
  comment: decided.comment || null,
  decidedAt: iso(decided.at),
});

const waitingForJson = (waiting: executions.WaitingFor): Record<string, unknown> => ({
  nodeId: waiting.nodeId,
  title: waiting.title,
  instructions: waiting.instructions || undefined,
  since: iso(waiting.since),
  until: iso(waiting.until),
  onTimeout: waiting.onTimeout,
  approvers: waiting.approvers.length > 0 ? waiting.approvers : undefined,
  notStarter: waiting.notStarter || undefined,
  value: json(waiting.valueJson),
  truncated: waiting.truncated || undefined,
});

/**
 * Formats an execution for poll responses and webhooks. Undefined members are absent in JSON.
 * @param result the run's result in the caller's JSON representation; undefined if there is none
 */
export const executionJson = (execution: executions.Execution, result: unknown): Record<string, unknown> => ({
  executionId: execution.executionId,
  status: execution.status,
  requestId: execution.requestId ?? null,
  durationMs: execution.durationMs,
  queued: execution.queued || undefined,
  position: execution.position,
  waitingFor: execution.waitingFor.length > 0 ? execution.waitingFor.map(waitingForJson) : undefined,
  decisions: execution.decisions.length > 0 ? execution.decisions.map(decidedJson) : undefined,
  result,
  error: execution.error ? errorJson(execution.error) : undefined,
  webhookDelivery: webhookDeliveryJson(execution.webhookDelivery),
  nodes: execution.nodes.map(nodeJson),
  inputs: json(execution.inputsJson),
  metadata: execution.metadata,
  ...(execution.batch ? { batchId: execution.batch.batchId, index: execution.batch.index } : {}),
  workflowSlug: execution.workflowSlug ?? null,
  version: execution.version || null,
  inlined:
    execution.inlined.length === 0
      ? undefined
      : execution.inlined.map(({ nodeId, slug, version, contentHash }) => ({ nodeId, slug, version: version || null, contentHash })),
  modelIds: execution.modelIds,
  rerunOf: execution.rerunOf || undefined,
  retentionDays: execution.retentionDays,
  source: execution.source,
  keyId: execution.keyId || null,
  startedBy: execution.personId,
  creditsCost: toCredits(execution.millicredits),
  createdAt: iso(execution.createdAt),
  finishedAt: iso(execution.finishedAt),
});
