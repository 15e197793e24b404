/** An execution as it travels between services. */
import { groupBy, isRepairKey, makesCalls, repairKey } from "@nodeloom/kernel";
import { executions } from "@nodeloom/proto";
import type { WebhookAttempt, WebhookState } from "../run/delivery";
import type { NodeState } from "../run/types";
import type { CallRecord } from "../run/call-record";
import { metadataOf, type ExecutionView } from "../run/record";

/** What a document says, without what it says is absent: messages know no null. Of the rest they take what is theirs. */
const present = <T extends object>(document: T) =>
  Object.fromEntries(Object.entries(document).filter(([, value]) => value !== null)) as { [K in keyof T]: Exclude<T[K], null> | undefined };

/** What planning evaluated was done when the run was received, and took no time. */
const timesOf = ({ status, startedAt, durationMs }: NodeState, receivedAt: Date): Pick<NodeState, "startedAt" | "durationMs"> =>
  status === "completed" && startedAt === null ? { startedAt: receivedAt.getTime(), durationMs: 0 } : { startedAt, durationMs };

/** What is shown of an execution beside its row. */
export interface Details {
  calls: readonly CallRecord[];
  inputsJson: string | undefined;
  position: number | undefined;
}

const callMessage = (call: CallRecord, { status: nodeStatus }: NodeState): executions.NodeCall =>
  executions.NodeCall.fromPartial({
    ...present(call),
    // When its node is over, the answer of a call is not waited for any more.
    status: call.status === "submitted" && nodeStatus !== "processing" ? "cancelled" : call.status,
  });

/** An item whose answer was asked for once more is shown as its second call, with what both of them cost. */
const withRepairs = (calls: readonly CallRecord[]): CallRecord[] => {
  const repairs = new Map(calls.filter(({ _id }) => isRepairKey(_id)).map((call) => [call._id, call]));
  if (repairs.size === 0) return [...calls];
  return calls
    .filter(({ _id }) => !repairs.has(_id))
    .map((call) => {
      const repair = repairs.get(repairKey(call._id));
      return repair ? { ...repair, millicredits: (call.millicredits ?? 0) + (repair.millicredits ?? 0) } : call;
    });
};

const callsByNode = (calls: readonly CallRecord[]): Map<string, CallRecord[]> => {
  const byNode = groupBy(withRepairs(calls), ({ nodeId }) => nodeId);
  for (const of of byNode.values()) of.sort((a, b) => a.item - b.item);
  return byNode;
};

/** What a node gave, and its calls where it made several. */
const outputsOf = (node: NodeState, calls: readonly CallRecord[]): Partial<executions.NodeState> => {
  if (node.outputsJson !== undefined) return { outputsJson: node.outputsJson, truncated: node.truncated ?? false };
  if (node.items > 1) return { calls: calls.map((call) => callMessage(call, node)) };
  const [only] = calls;
  return only?.outputsJson === undefined ? {} : { outputsJson: only.outputsJson, truncated: only.truncated ?? false };
};

/** @param calls those of the node; none where outputs are hidden */
const nodeMessage = (node: NodeState, receivedAt: Date, calls?: readonly CallRecord[]): executions.NodeState => {
  const { outputsJson: _, truncated: __, items, itemsDone, reusedFrom = "", ...rest } = node;
  const { startedAt, durationMs } = timesOf(node, receivedAt);
  return executions.NodeState.fromPartial({
    ...present(rest),
    startedAt: startedAt === null ? undefined : new Date(startedAt),
    durationMs: durationMs ?? undefined,
    ...(makesCalls(node.type) ? { items, itemsDone } : {}),
    reusedFrom,
    ...(calls ? outputsOf(node, calls) : {}),
  });
};

const attemptMessage = (attempt: WebhookAttempt, submittedUrl: string): executions.WebhookAttempt =>
  executions.WebhookAttempt.fromPartial({ ...present(attempt), url: attempt.url === submittedUrl ? undefined : attempt.url });

const deliveryMessage = (webhook: WebhookState): executions.WebhookDelivery =>
  executions.WebhookDelivery.fromPartial({
    ...present(webhook),
    configured: true,
    history: webhook.history.map((attempt) => attemptMessage(attempt, webhook.url)),
  });

export const executionMessage = (record: ExecutionView, details?: Details): executions.Execution => {
  const byNode = callsByNode(details?.calls ?? []);
  return executions.Execution.fromPartial({
    ...present(record),
    executionId: record._id,
    status: record.status === "queued" ? "processing" : record.status,
    queued: record.status === "queued",
    durationMs: record.durationMs ?? Math.max(0, Date.now() - record.createdAt.getTime()),
    webhookDelivery: record.webhook ? deliveryMessage(record.webhook) : { configured: false },
    nodes: record.nodes.map((node) => nodeMessage(node, record.createdAt, details && (byNode.get(node.id) ?? []))),
    position: details?.position,
    inputsJson: details?.inputsJson,
    metadata: metadataOf(record.metadata),
    rerunOf: record.rerun?.of ?? "",
  });
};
