import type { EventChannel } from "./events";
import type { NodeState, Refusal, RunEnd, RunError, RunInput } from "./run-types";
import type { ExecutionEvent, ExecutionStore, NodeProgress } from "./store";

export type Execution = ReturnType<typeof createExecution>;

/** The life of one execution: every change is recorded first and announced after. */
export const createExecution = ({ store, channel }: { store: ExecutionStore; channel: EventChannel }) => {
  const announce = (executionId: string, sequence: number, event: ExecutionEvent): void =>
    channel.publish(executionId, { sequence, type: event.type, at: event.at.getTime(), data: event.data });

  const progress = async (executionId: string, event: ExecutionEvent, node?: NodeProgress): Promise<NodeState[] | null> => {
    const changed = await store.progress(executionId, event, node);
    if (changed) announce(executionId, changed.sequence, event);
    return changed?.nodes ?? null;
  };

  const event = (key: string, type: string, data: Record<string, unknown> = {}): ExecutionEvent => ({ key, type, at: new Date(), data });

  return {
    /** Records an admitted run. Idempotent. */
    admit: async (input: RunInput, nodes: NodeState[]): Promise<void> => {
      const admitted = event("admitted", "admitted", { workflowSlug: input.workflowSlug, modelIds: input.modelIds });
      const { webhook } = input;
      const inserted = await store.insert({
        _id: input.executionId,
        userId: input.userId,
        workflowSlug: input.workflowSlug,
        modelIds: input.modelIds,
        source: input.source,
        keyId: input.keyId,
        mode: input.mode,
        status: "processing",
        // A run in which nothing is left to do can't be cancelled any more.
        ending: input.plan.steps.length === 0 ? "completed" : null,
        requestId: null,
        resultJson: null,
        error: null,
        webhook: webhook && { configured: true, url: webhook.url, events: webhook.events, attempts: 0, deliveredAt: null, lastError: null },
        nodes,
        events: [admitted],
        millicredits: 0,
        grantUsed: false,
        createdAt: new Date(input.receivedAt),
        finishedAt: null,
        durationMs: null,
      });
      if (inserted) announce(input.executionId, 1, admitted);
    },

    /** Tells whoever waits that the run was not admitted. There is nothing to record. */
    refuse: (executionId: string, refusal: Refusal): void =>
      channel.publish(executionId, { sequence: 0, type: "refused", at: Date.now(), data: { ...refusal } }),

    nodeStarted: async (executionId: string, nodeId: string, nodeIndex: number): Promise<void> => {
      await progress(executionId, event(`started:${nodeId}`, "node.started", { nodeId }), {
        nodeIndex,
        status: "processing",
        startedAt: Date.now(),
      });
    },

    submitted: async (
      call: { executionId: string; nodeId: string; nodeIndex: number; item: number },
      requestId: string,
      startedAt: number,
    ): Promise<void> => {
      const { executionId, nodeId, nodeIndex, item } = call;
      const submitted = event(`submitted:${nodeId}:${item}`, "submitted", { nodeId, item, requestId });
      await progress(executionId, submitted, { nodeIndex, status: "processing", requestId, ...(item === 0 ? { startedAt } : {}) });
    },

    /** One call of a node is done; the node is, when it was the last. */
    itemCompleted: async (
      call: { executionId: string; nodeId: string; nodeIndex: number; item: number },
      data: Record<string, unknown>,
    ): Promise<void> => {
      const { executionId, nodeId, nodeIndex, item } = call;
      const nodes = await progress(executionId, event(`item:${nodeId}:${item}`, "node.progress", { nodeId, item, ...data }), {
        nodeIndex,
        itemDone: true,
      });
      const node = nodes?.[nodeIndex];
      if (!node || node.itemsDone < node.items) return;
      const durationMs = Date.now() - (node.startedAt ?? Date.now());
      await progress(executionId, event(`completed:${nodeId}`, "node.completed", { nodeId, durationMs }), {
        nodeIndex,
        status: "completed",
        durationMs,
      });
    },

    nodeFailed: async (executionId: string, nodeId: string, nodeIndex: number, error: RunError): Promise<void> => {
      await progress(executionId, event(`failed:${nodeId}`, "node.failed", { nodeId, error }), { nodeIndex, status: "failed", error });
    },

    cancelRequested: async (executionId: string): Promise<void> => {
      await progress(executionId, event("cancel_requested", "cancel_requested"));
    },

    decideEnding: store.decideEnding,

    /** Makes the run final and says so. Idempotent. */
    finish: async (input: RunInput, end: RunEnd, charge: { millicredits: number; grantUsed: boolean }): Promise<void> => {
      const finishedAt = new Date();
      const settled = event("settled", "settled", { status: end.status, error: end.error });
      const sequence = await store.finish(
        input.executionId,
        { ...end, ...charge, finishedAt, durationMs: finishedAt.getTime() - input.receivedAt },
        settled,
      );
      if (sequence !== null) announce(input.executionId, sequence, settled);
    },
  };
};
