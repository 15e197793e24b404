import { newWebhookState } from "../contract/delivery";
import type { EventChannel } from "../record/events";
import { countRefusal, countRun } from "../meters";
import { endKey, missingEvents, plannedEvents } from "../record/node-events";
import type { CallContext, NodeState, Refusal, RunEnd, RunError, RunInput } from "../contract/run-types";
import type { ExecutionEvent, ExecutionRecord, ExecutionStore, FinalState, NodeProgress } from "../record/store";

export type Execution = ReturnType<typeof createExecution>;

/** The event by which calls under way hear of a cancellation at once. */
export const CANCEL_REQUESTED = "cancel_requested";

export interface Charged {
  millicredits: number;
  grantUsed: boolean;
}

const event = (key: string, type: string, data: Record<string, unknown> = {}): ExecutionEvent => ({ key, type, at: new Date(), data });

const admittedEvent = ({ workflowSlug, modelIds }: RunInput): ExecutionEvent => event("admitted", "admitted", { workflowSlug, modelIds });
const settledEvent = ({ status, error }: RunEnd): ExecutionEvent => event("settled", "settled", { status, error });

const newRecord = (input: RunInput, nodes: NodeState[], admitted: ExecutionEvent): ExecutionRecord => {
  const { executionId, userId, workflowSlug, modelIds, source, keyId, holdId, mode, webhook, receivedAt } = input;
  return {
    _id: executionId,
    userId,
    workflowSlug,
    modelIds,
    source,
    keyId,
    holdId,
    markupPermille: input.plan.markupPermille,
    mode,
    status: "processing",
    ending: null,
    requestId: null,
    resultJson: null,
    error: null,
    webhook: webhook && newWebhookState(webhook),
    nodes,
    events: [admitted, ...plannedEvents(nodes, admitted.at)],
    millicredits: 0,
    grantUsed: false,
    createdAt: new Date(receivedAt),
    finishedAt: null,
    durationMs: null,
    seenRunningAt: new Date(),
  };
};

const targetOf = ({ workflowSlug }: Pick<RunInput, "workflowSlug">): "workflow" | "model" => (workflowSlug === null ? "model" : "workflow");

/** What an execution is when it is over. */
const finalState = ({ receivedAt }: Pick<RunInput, "receivedAt">, end: RunEnd, charge: Charged): FinalState => {
  const finishedAt = new Date();
  return {
    status: end.status,
    resultJson: end.result === null ? null : JSON.stringify(end.result),
    error: end.error,
    nodes: end.nodes,
    ...charge,
    finishedAt,
    durationMs: finishedAt.getTime() - receivedAt,
    ...(end.requestId === null ? {} : { requestId: end.requestId }),
  };
};

/** The life of one execution: every change is recorded first and announced after. */
export const createExecution = ({ store, channel }: { store: ExecutionStore; channel: EventChannel }) => {
  const announce = (executionId: string, sequence: number, event: ExecutionEvent, record?: ExecutionRecord): void =>
    channel.publish(executionId, { sequence, type: event.type, at: event.at.getTime(), data: event.data }, record);

  const progress = async (executionId: string, event: ExecutionEvent, node?: NodeProgress): Promise<NodeState[] | null> => {
    const changed = await store.progress(executionId, event, node);
    if (changed) announce(executionId, changed.sequence, event);
    return changed?.nodes ?? null;
  };

  return {
    /** Records an admitted run, or one that was cancelled before its admission. Idempotent. */
    admit: async (input: RunInput, nodes: NodeState[], isCancelled = false): Promise<void> => {
      const record = newRecord(input, nodes, admittedEvent(input));
      if (isCancelled) {
        record.status = "cancel_requested";
        record.events.push(event(CANCEL_REQUESTED, CANCEL_REQUESTED));
      }
      if (await store.insert(record)) announce(input.executionId, 1, record.events[0]!);
    },

    /** Records a run that is over when it begins. Idempotent. */
    recordUnstarted: async (input: RunInput, end: RunEnd): Promise<void> => {
      const settled = settledEvent(end);
      const record: ExecutionRecord = {
        ...newRecord(input, end.nodes, admittedEvent(input)),
        ...finalState(input, end, { millicredits: 0, grantUsed: false }),
      };
      record.events.push(settled);
      if (!(await store.insert(record))) return;
      countRun(end, targetOf(input), record.durationMs ?? 0);
      announce(input.executionId, record.events.length, settled, record);
    },

    isCalledOff: store.isCalledOff,

    isRecorded: async (executionId: string): Promise<boolean> => (await store.find(executionId)) !== null,

    /**
     * Refuses a run that is not recorded, and tells whoever waits, unless it was accepted before.
     * @returns whether it is refused
     */
    refuse: async (executionId: string, refusal: Refusal): Promise<boolean> => {
      const decided = await store.decideAdmission(executionId, refusal);
      if (decided) {
        countRefusal(decided);
        channel.publish(executionId, { sequence: 0, type: "refused", at: Date.now(), data: { ...decided } });
      }
      return decided !== null;
    },

    refusalOf: store.refusalOf,

    /** Why a recorded run has failed, if it has. */
    failureOf: async (executionId: string): Promise<RunError | null> => {
      const record = await store.find(executionId);
      return record?.status === "failed" ? record.error : null;
    },

    nodeStarted: async ({ executionId, nodeId, nodeIndex, items }: CallContext): Promise<void> => {
      await progress(executionId, event(`started:${nodeId}`, "node.started", { nodeId, items }), {
        nodeIndex,
        status: "processing",
        startedAt: Date.now(),
        items,
      });
    },

    submitted: async (call: CallContext, requestId: string, startedAt: number): Promise<void> => {
      const { executionId, nodeId, nodeIndex, item, items } = call;
      const submitted = event(`submitted:${nodeId}:${item}`, "submitted", { nodeId, item, items, requestId });
      await progress(executionId, submitted, { nodeIndex, status: "processing", requestId, items, ...(item === 0 ? { startedAt } : {}) });
    },

    /** One call of a node is done; the node is, when it was the last. */
    itemCompleted: async (call: CallContext, data: Record<string, unknown>): Promise<void> => {
      const { executionId, nodeId, nodeIndex, item, items, startedAt } = call;
      const durationMs = Date.now() - startedAt;
      const nodeDone = { nodeIndex, status: "completed", durationMs } as const;
      if (items === 1) {
        const completed = event(endKey("completed", nodeId), "node.completed", { nodeId, durationMs, ...data });
        await progress(executionId, completed, { ...nodeDone, itemDone: true });
        return;
      }
      const one = event(`item:${nodeId}:${item}`, "node.progress", { nodeId, item, ...data });
      const nodes = await progress(executionId, one, { nodeIndex, itemDone: true });
      if ((nodes?.[nodeIndex]?.itemsDone ?? 0) < items) return;
      await progress(executionId, event(endKey("completed", nodeId), "node.completed", { nodeId, durationMs }), nodeDone);
    },

    nodeFailed: async (executionId: string, nodeId: string, nodeIndex: number, error: RunError): Promise<void> => {
      await progress(executionId, event(endKey("failed", nodeId), "node.failed", { nodeId, error }), {
        nodeIndex,
        status: "failed",
        error,
      });
    },

    /** @returns whether the run was under way and is being cancelled now. */
    requestCancel: async (executionId: string, userId: string): Promise<boolean> => {
      const requested = event(CANCEL_REQUESTED, CANCEL_REQUESTED);
      const sequence = await store.requestCancel(executionId, userId, requested);
      if (sequence === null) return false;
      announce(executionId, sequence, requested);
      return true;
    },

    /** Tells those who are about to record a run that it is being cancelled. */
    announceCancel: (executionId: string): void =>
      channel.publish(executionId, { sequence: 0, type: CANCEL_REQUESTED, at: Date.now(), data: {} }),

    decideEnding: store.decideEnding,

    /** Makes the run final and says so. Idempotent. */
    finish: async (input: Pick<RunInput, "executionId" | "receivedAt">, end: RunEnd, charge: Charged): Promise<void> => {
      const settled = settledEvent(end);
      const recorded = end.status === "completed" ? undefined : await store.eventKeys(input.executionId);
      const events = [...missingEvents(end.nodes, recorded, settled.at), settled];
      const record = await store.finish(input.executionId, finalState(input, end, charge), events);
      if (!record) return;
      countRun(end, targetOf(record), record.durationMs ?? 0);
      announce(input.executionId, record.events.length, settled, record);
    },
  };
};
