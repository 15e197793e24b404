import { groupBy, isRepairKey, itemKey, makesCalls, placeOfKey, repairKey } from "@nodeloom/kernel";
import { withPublicErrors } from "@nodeloom/platform";
import { executions } from "@nodeloom/proto";
import { isAnnounced, type WebhookAttempt, type WebhookState } from "../run/delivery";
import type { NodeState } from "../run/types";
import type { CallRecord } from "../run/call-record";
import { consideredMessages } from "../plan/models";
import { metadataOf, type ExecutionView } from "../run/record";
import type { Approval } from "../run/approvals";

const valueOf = (
  { nodeId, value, truncated }: Approval,
  values: ReadonlyMap<string, string> | undefined,
): Partial<executions.WaitingFor> => {
  const json = value && ("json" in value ? value.json : values?.get(nodeId));
  // Lists omit long values in the same way as values that are too long to store.
  return json === undefined ? { truncated: value !== undefined || truncated === true } : { valueJson: json };
};

/** @param values long values by node, which aren't in the row; absent if they aren't shown */
export const waitingForMessages = (
  { waits = [], waitingFor = [] }: ExecutionView,
  values?: ReadonlyMap<string, string>,
): executions.WaitingFor[] =>
  waits
    .filter(({ nodeId }) => waitingFor.includes(nodeId))
    .map((approval) => {
      const { nodeId, title, instructions, since, until, onTimeout } = approval;
      const { approvers = [], notStarter } = approval;
      const deciders = { approvers: [...approvers], notStarter };
      return executions.WaitingFor.fromPartial({
        ...{ nodeId, title, instructions, since, until, onTimeout, ...deciders },
        ...valueOf(approval, values),
      });
    });

export const decidedMessages = ({ decisions = [] }: ExecutionView): executions.Decided[] =>
  decisions.map(({ value: _, ...decision }) => executions.Decided.fromPartial(decision));

/** Omits null members, because messages have no null. Members unknown to the message are ignored. */
const present = <T extends object>(document: T) =>
  Object.fromEntries(Object.entries(document).filter(([, value]) => value !== null)) as { [K in keyof T]: Exclude<T[K], null> | undefined };

/** Nodes evaluated during planning ended when the run was received, with duration 0. */
const timesOf = ({ status, startedAt, durationMs }: NodeState, receivedAt: Date): Pick<NodeState, "startedAt" | "durationMs"> =>
  status === "completed" && startedAt === null ? { startedAt: receivedAt.getTime(), durationMs: 0 } : { startedAt, durationMs };

export interface Details {
  calls: readonly CallRecord[];
  inputsJson: string | undefined;
  position: number | undefined;
  /** Values for review by node, if they are too long for the row. */
  waitingValues?: ReadonlyMap<string, string>;
}

/** Shows an item whose answer was requested twice as its second call, with the cost of both calls. */
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

interface ShownCall extends CallRecord {
  attempts?: CallRecord[];
}

/** Shows an item with fallbacks as its last call, with all attempts. */
const withAttempts = (calls: readonly CallRecord[]): ShownCall[] => {
  if (calls.every(({ _id }) => placeOfKey(_id) === 0)) return [...calls];
  const byItem = groupBy(calls, ({ nodeId, item }) => itemKey(nodeId, item));
  return [...byItem.values()].map((of) => {
    const attempts = [...of].sort((a, b) => placeOfKey(a._id) - placeOfKey(b._id));
    const last = attempts.at(-1)!;
    return attempts.length > 1 ? { ...last, attempts } : last;
  });
};

const callsByNode = (calls: readonly CallRecord[]): Map<string, ShownCall[]> => {
  const byNode = groupBy(withAttempts(withRepairs(calls)), ({ nodeId }) => nodeId);
  for (const of of byNode.values()) of.sort((a, b) => a.item - b.item);
  return byNode;
};

/** @param millicredits charge of the last attempt, if the node has it */
const attemptMessages = ({ attempts = [] }: ShownCall, millicredits?: number): executions.CallAttempt[] =>
  attempts.map((attempt, index) =>
    executions.CallAttempt.fromPartial({
      ...present(attempt),
      millicredits: (index === attempts.length - 1 ? millicredits : undefined) ?? attempt.millicredits ?? 0,
    }),
  );

const callMessage = (call: ShownCall, { status: nodeStatus }: NodeState): executions.NodeCall =>
  executions.NodeCall.fromPartial({
    ...present(call),
    attempts: attemptMessages(call),
    // A submitted call of an ended node is shown as cancelled. The log can record the node's start later than the call itself.
    status: call.status === "submitted" && nodeStatus !== "processing" && nodeStatus !== "pending" ? "cancelled" : call.status,
  });

/** Adds the items that failed before they made a call. */
const withUncalled = (node: NodeState, calls: readonly ShownCall[]): executions.NodeCall[] => {
  const knownItems = new Set(calls.map(({ item }) => item));
  const uncalled = (node.itemErrors ?? []).filter(({ item }) => !knownItems.has(item));
  const failed = uncalled.map(({ item, error }) => executions.NodeCall.fromPartial({ item, error, status: "failed" }));
  return [...calls.map((call) => callMessage(call, node)), ...failed].sort((a, b) => a.item - b.item);
};

const withoutOutputs = (calls: readonly CallRecord[]): CallRecord[] => calls.map(({ outputsJson: _, truncated: __, ...call }) => call);

/** Returns the outputs of a node, and its calls if it made several. */
const outputsOf = (node: NodeState, calls: readonly ShownCall[]): Partial<executions.NodeState> => {
  if (node.outputsJson !== undefined) return { outputsJson: node.outputsJson, truncated: node.truncated ?? false };
  if (node.items > 1) return { calls: withUncalled(node, calls) };
  const [only] = calls;
  if (!only) return {};
  const attempts = attemptMessages(only, node.millicredits);
  return only.outputsJson === undefined ? { attempts } : { outputsJson: only.outputsJson, truncated: only.truncated ?? false, attempts };
};

/** @param calls the node's calls; absent in lists */
const nodeMessage = (node: NodeState, record: ExecutionView, calls?: readonly ShownCall[]): executions.NodeState => {
  const { outputsJson: _, truncated: __, itemErrors: ___, items, itemsDone, reusedFrom = "", ...rest } = node;
  const { startedAt, durationMs } = timesOf(node, record.createdAt);
  return executions.NodeState.fromPartial({
    ...present(rest),
    startedAt: startedAt === null ? undefined : new Date(startedAt),
    durationMs: durationMs ?? undefined,
    ...(makesCalls(node.type) ? { items, itemsDone } : {}),
    reusedFrom,
    ...(calls ? { ...outputsOf(node, calls), considered: consideredMessages(record, node.id) } : {}),
  });
};

const attemptMessage = (attempt: WebhookAttempt, submittedUrl: string): executions.WebhookAttempt =>
  executions.WebhookAttempt.fromPartial({ ...present(attempt), url: attempt.url === submittedUrl ? undefined : attempt.url });

/** A delivery that hasn't started has no state. */
const deliveryMessage = ({ state = "pending", history = [], ...webhook }: WebhookState): executions.WebhookDelivery =>
  executions.WebhookDelivery.fromPartial({
    ...{ ...present(webhook), state },
    configured: true,
    history: history.map((attempt) => attemptMessage(attempt, webhook.url)),
  });

export const executionMessage = (record: ExecutionView, details?: Details): executions.Execution => {
  const { calls = [] } = details ?? {};
  const byNode = callsByNode(record.graphHidden ? withoutOutputs(calls) : calls);
  const nodes = record.graphHidden ? record.nodes.map(({ outputsJson: _, ...node }) => node) : record.nodes;
  const message = executions.Execution.fromPartial({
    ...present(record),
    executionId: record._id,
    status: record.status === "queued" ? "processing" : record.status,
    queued: record.status === "queued" || (details?.position ?? 0) > 0,
    waitingFor: waitingForMessages(record, details?.waitingValues),
    decisions: decidedMessages(record),
    durationMs: record.durationMs ?? Math.max(0, Date.now() - record.createdAt.getTime()),
    webhookDelivery: record.webhook && isAnnounced(record) ? deliveryMessage(record.webhook) : { configured: false },
    nodes: nodes.map((node) => nodeMessage(node, record, details && (byNode.get(node.id) ?? []))),
    position: details?.position,
    inputsJson: details?.inputsJson,
    inlined: [...(record.inlined ?? [])],
    metadata: metadataOf(record.metadata),
    rerunOf: record.rerun?.of ?? "",
    canary: record.canary && record.canary.arm === "canary" && !record.canary.isUnplanned,
    ...(record.batchId === undefined ? {} : { batch: { batchId: record.batchId, index: record.index } }),
  });
  return record.graphHidden ? withPublicErrors(message) : message;
};
