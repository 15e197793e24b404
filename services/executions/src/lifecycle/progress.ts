import { LRUCache } from "lru-cache";
import type { CallContext, RunError } from "../run/types";
import { TIMING } from "../run/timing";
import type { ExecutionEvent } from "../run/record";
import type { Appended, RecordedKeys } from "../store/event-log";
import type { Journal } from "../store/journal";
import { elapsed, event } from "../run/events";
import { endKey } from "../run/node-events";

/** Runs that are remembered as waited for here. */
const MAX_WAITED_FOR = 10_000;

const itemPrefix = (nodeId: string): string => `item:${nodeId}:`;
const countItems = (recorded: RecordedKeys, nodeId: string): number =>
  [...recorded].filter((key) => key.startsWith(itemPrefix(nodeId))).length;

/**
 * How far a run's nodes have come, as the activities that make its calls tell it. Each resolves when it is recorded. A step whose
 * repetition would tell it again need not wait for that.
 */
export const createProgress = (journal: Pick<Journal, "note">) => {
  /** Synchronous runs that were claimed here: their clients are told at their end, so their progress may wait for that. */
  const untold = new LRUCache<string, true>({ max: MAX_WAITED_FOR });

  const note = (executionId: string, said: ExecutionEvent, mayWait = false): Promise<Appended | null> =>
    journal.note(executionId, said, mayWait && untold.has(executionId) ? TIMING.progressHeld : TIMING.progressGathered);

  return {
    /** Of a run that was claimed here. */
    claimed: (executionId: string, isWaitedFor: boolean): void => void (isWaitedFor && untold.set(executionId, true)),
    over: (executionId: string): void => void untold.delete(executionId),

    nodeStarted: async ({ executionId, nodeId, items }: CallContext, mayWait?: boolean): Promise<void> => {
      await note(executionId, event(`started:${nodeId}`, "node.started", { nodeId, items }), mayWait);
    },

    submitted: async ({ executionId, nodeId, item, items }: CallContext, requestId: string, mayWait?: boolean): Promise<void> => {
      await note(executionId, event(`submitted:${nodeId}:${item}`, "submitted", { nodeId, item, items, requestId }), mayWait);
    },

    /** One call of a node is done; the node is, when it was the last. */
    itemCompleted: async (call: CallContext, data: Record<string, unknown>, mayWait?: boolean): Promise<void> => {
      const { executionId, nodeId, item, items, startedAt } = call;
      const durationMs = elapsed(startedAt);
      const completed = (more: Record<string, unknown> = {}): ExecutionEvent =>
        event(endKey("completed", nodeId), "node.completed", { nodeId, durationMs, ...more });
      if (items === 1) return void (await note(executionId, completed(data), mayWait));
      const appended = await note(executionId, event(itemPrefix(nodeId) + item, "node.progress", { nodeId, item, ...data }), mayWait);
      if (appended && countItems(appended.recorded, nodeId) >= items) await note(executionId, completed());
    },

    nodeFailed: async (executionId: string, nodeId: string, error: RunError): Promise<void> => {
      await note(executionId, event(endKey("failed", nodeId), "node.failed", { nodeId, error }));
    },
  };
};
