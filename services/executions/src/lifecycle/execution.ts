/** Records transitions and progress of a run first, then announces them. */
import { alternativeKey, itemKey, type DomainError } from "@nodeloom/kernel";
import { LRUCache } from "lru-cache";
import { countRefusal } from "../meters";
import { elapsed, endKey, event, runEvent, SUBMITTED, type ExecutionEvent } from "../run/events";
import type { ExecutionView } from "../run/record";
import { refusalOf } from "../run/refusals";
import { CANCEL_REQUESTED, refusalOutbox, TRANSITION_EVENTS, type OutboxEntry } from "../run/states";
import { TIMING } from "../run/timing";
import type { CallContext, FinalStatus, RunError, RunInput } from "../run/types";
import type { EventChannel } from "../record/runs/channel";
import type { KnownLog } from "../record/runs/event-log";
import { createJournal } from "../record/runs/journal";
import type { Stores } from "../record/stores";
import type { ClaimedRun, DecidedEnding } from "../record/runs/transitions";

const MAX_SYNCHRONOUS = 10_000;

const briefly = ({ code, message, publicMessage }: RunError): Pick<RunError, "code" | "message" | "publicMessage"> => ({
  code,
  message,
  ...(publicMessage === undefined ? {} : { publicMessage }),
});

const itemPrefix = (nodeId: string): string => `item:${nodeId}:`;
const failedItemPrefix = (nodeId: string): string => `failed-item:${nodeId}:`;

export type Execution = ReturnType<typeof createExecution>;

export const createExecution = ({ stores, channel }: { stores: Stores; channel: Pick<EventChannel, "publish"> }) => {
  /** @param row the row after the change */
  const announce = (executionId: string, { type, at, data }: ExecutionEvent, row?: ExecutionView): void =>
    channel.publish(executionId, { type, at: at.getTime(), data }, row);

  const journal = createJournal({
    append: stores.log.append,
    // One message announces all events, because readers read the log.
    announce: (executionId, events) => announce(executionId, events.find(({ type }) => TRANSITION_EVENTS.has(type)) ?? events.at(-1)!),
  });
  /** Synchronous runs claimed by this process. Their clients get the answer at the end, so progress can be written later. */
  const synchronous = new LRUCache<string, true>({ max: MAX_SYNCHRONOUS });

  /** @param mayWait true if a crash would repeat the step, so that it needn't be recorded before the next step */
  const note = (executionId: string, progress: ExecutionEvent, mayWait = false): Promise<KnownLog | null> =>
    journal.note(executionId, progress, mayWait && synchronous.has(executionId) ? TIMING.progressHeld : TIMING.progressGathered);

  const completed = ({ nodeId, startedAt }: CallContext, more: Record<string, unknown> = {}): ExecutionEvent =>
    event(endKey("completed", nodeId), "node.completed", { nodeId, durationMs: elapsed(startedAt), ...more });

  /** Completes a node after its last item if at least one item succeeded. */
  const completeWhenDone = async (call: CallContext, log: KnownLog | null): Promise<void> => {
    const { executionId, nodeId, items } = call;
    const keys = [...(log?.recorded ?? [])];
    const countOf = (prefix: string): number => keys.filter((key) => key.startsWith(prefix)).length;
    const doneCount = countOf(itemPrefix(nodeId));
    if (doneCount > 0 && doneCount + countOf(failedItemPrefix(nodeId)) >= items) await note(executionId, completed(call));
  };

  return {
    announce,
    flush: journal.flush,

    nodeStarted: async ({ executionId, nodeId, items }: CallContext, mayWait?: boolean): Promise<void> => {
      await note(executionId, event(`started:${nodeId}`, "node.started", { nodeId, items }), mayWait);
    },

    submitted: async (
      { executionId, nodeId, item, items, alternative }: CallContext,
      requestId: string,
      mayWait?: boolean,
    ): Promise<void> => {
      const key = SUBMITTED + alternativeKey(itemKey(nodeId, item), alternative?.place ?? 0);
      const { model } = alternative ?? {};
      await note(executionId, event(key, "submitted", { nodeId, item, items, requestId, ...(model ? { model } : {}) }), mayWait);
    },

    /** Records that a call failed and a fallback model is called. */
    fellBack: async ({ executionId, nodeId, item, items, alternative }: CallContext, error: RunError): Promise<void> => {
      const { place = 0, model } = alternative ?? {};
      const data = { nodeId, ...(items > 1 ? { item } : {}), model, error: briefly(error) };
      await note(executionId, event(`fallback:${alternativeKey(itemKey(nodeId, item), place)}`, "node.fallback", data));
    },

    /** Records that an item failed and is left out. The last item completes the node, unless all items failed. */
    itemFailed: async (call: CallContext, error: RunError): Promise<void> => {
      const { executionId, nodeId, item } = call;
      const data = { nodeId, item, error: briefly(error) };
      const appended = await note(executionId, event(failedItemPrefix(nodeId) + item, "node.progress", data));
      await completeWhenDone(call, appended);
    },

    /** Records a completed call of a node. The last call completes the node. */
    itemCompleted: async (call: CallContext, data: Record<string, unknown>, mayWait?: boolean): Promise<void> => {
      const { executionId, nodeId, item, items } = call;
      if (items === 1) return void (await note(executionId, completed(call, data), mayWait));
      const appended = await note(executionId, event(itemPrefix(nodeId) + item, "node.progress", { nodeId, item, ...data }), mayWait);
      await completeWhenDone(call, appended);
    },

    nodeFailed: async (executionId: string, nodeId: string, error: RunError): Promise<void> => {
      await note(executionId, event(endKey("failed", nodeId), "node.failed", { nodeId, error }));
    },

    /** accepted | queued → processing, for one workflow. @returns null if this workflow must not run the execution */
    claim: async (executionId: string, attempt: number, claimedBy: string): Promise<ClaimedRun | null> => {
      const started = runEvent("started");
      const claim = await stores.rows.claim(executionId, attempt, claimedBy, started);
      if (!claim || claim.again) return claim;
      const { row } = claim;
      if (row.mode === "sync") synchronous.set(executionId, true);
      announce(executionId, row.queuedAt ? started : runEvent("admitted"), row);
      return claim;
    },

    /** accepted → refused, with its outbox. @returns the refused row; null if the run was decided differently */
    refuse: async (
      row: Pick<ExecutionView, "_id" | "attempt">,
      error: DomainError,
      outbox: readonly OutboxEntry[] = refusalOutbox(row.attempt),
    ) => {
      const refusedRow = await stores.rows.refuse(row._id, row.attempt, refusalOf(error), outbox);
      if (!refusedRow) return null;
      countRefusal(error);
      announce(row._id, runEvent("refused"));
      return refusedRow;
    },

    /** accepted → queued. @returns null if the run isn't accepted any more */
    queue: async (row: ExecutionView, input: RunInput, position: number): Promise<ExecutionView | null> => {
      const json = JSON.stringify(input);
      const queuedEvent = runEvent("queued", { position });
      const runInput = await stores.payloads.putText(json, row._id);
      const queued = await stores.rows.queue(row._id, row.attempt, runInput, json.length, queuedEvent);
      if (queued) announce(row._id, queuedEvent);
      return queued;
    },

    /** processing → cancel_requested. @returns null if the run isn't under way, or its ending is decided */
    requestCancel: async (executionId: string, userId: string): Promise<ExecutionView | null> => {
      const requested = runEvent(CANCEL_REQUESTED);
      const row = await stores.rows.requestCancel(executionId, userId, requested);
      if (row) announce(executionId, requested);
      return row;
    },

    /**
     * Ends a run in one update, with the events that wait.
     * @param write receives the events that the log may lack, and the last known contents of the log; it returns null if it wrote nothing
     */
    endAtOnce: async (
      executionId: string,
      write: (waiting: readonly ExecutionEvent[], knownLog: KnownLog | undefined) => Promise<ExecutionView | null>,
    ): Promise<ExecutionView | null> => {
      const endedRow = await journal.close(executionId, write);
      if (endedRow) synchronous.delete(executionId);
      return endedRow;
    },

    /** Fixes how a run ends, and its log up to that point. @returns the decided ending */
    decideEnding: async (executionId: string, ending: FinalStatus): Promise<DecidedEnding> => {
      const decided = await journal.close(executionId, (waiting, knownLog) =>
        stores.rows.decideEnding(executionId, ending, waiting, knownLog),
      );
      synchronous.delete(executionId);
      return decided;
    },
  };
};
