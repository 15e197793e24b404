import { newWebhookState } from "../contract/delivery";
import type { CallContext, NodeState, Refusal, RunEnd, RunError, RunInput } from "../contract/run-types";
import { countRefusal, countRun } from "../meters";
import type { EventChannel } from "../record/log/channel";
import type { Costs, ExecutionEvent, ExecutionRecord, ExecutionView, FinalState, NodeProgress } from "../record/execution-record";
import { endKey, missingEvents, plannedEvents } from "../record/log/node-events";
import type { ExecutionStore } from "../record/store";
import type { Made } from "../record/transitions";
import { refusalDebts, UNDECIDED, type Debt } from "./states";

export type Execution = ReturnType<typeof createExecution>;

/** The event by which calls under way hear of a cancellation at once. */
export const CANCEL_REQUESTED = "cancel_requested";
/** Events of a row's own changes; what waits for a run hears of them. */
export const TRANSITION_EVENTS: ReadonlySet<string> = new Set([
  "admitted",
  "queued",
  "started",
  "submitted",
  CANCEL_REQUESTED,
  "settled",
  "refused",
]);

export interface Charged {
  millicredits: number;
  grantUsed: boolean;
  costs: Costs;
  modelCredits?: { model: string; millicredits: number }[];
}

export const event = (key: string, type: string, data: Record<string, unknown> = {}): ExecutionEvent => ({
  key,
  type,
  at: new Date(),
  data,
});

const admittedEvent = ({ workflowSlug, modelIds }: RunInput): ExecutionEvent => event("admitted", "admitted", { workflowSlug, modelIds });
const settledEvent = ({ status, error }: Pick<RunEnd, "status" | "error">): ExecutionEvent =>
  event("settled", "settled", { status, error });

/** What a client asked for, beside the run itself. */
export type RunRecordPart = Pick<ExecutionRecord, "fingerprint" | "requestToken" | "inputs" | "metadata">;

/** A run's row before anything is decided. */
export const newRecord = (input: RunInput, nodes: NodeState[], part: RunRecordPart = {}): ExecutionRecord => {
  const { executionId, userId, workflowSlug, version, modelIds, source, keyId, holdId, mode, webhook, receivedAt, attempt, baseTier } =
    input;
  const admitted = admittedEvent(input);
  return {
    _id: executionId,
    userId,
    workflowSlug,
    ...(version === undefined ? {} : { version }),
    modelIds,
    source,
    keyId,
    holdId,
    markupPermille: input.plan.markupPermille,
    mode,
    status: "accepted",
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
    ...(attempt === undefined ? {} : { attempt }),
    ...(baseTier === undefined ? {} : { baseTier }),
    due: [],
    owes: true,
    ...part,
  };
};

const targetOf = ({ workflowSlug }: Pick<RunInput, "workflowSlug">): "workflow" | "model" => (workflowSlug === null ? "model" : "workflow");

/** Clocks of two processes may differ. */
export const elapsed = (sinceMs: number, untilMs = Date.now()): number => Math.max(0, untilMs - sinceMs);

/** What an execution is when it is over. */
export const finalState = ({ receivedAt }: Pick<RunInput, "receivedAt">, end: RunEnd, charge: Charged): FinalState => {
  const finishedAt = new Date();
  return {
    status: end.status,
    resultJson: end.result === null ? null : JSON.stringify(end.result),
    error: end.error,
    nodes: end.nodes,
    ...charge,
    finishedAt,
    durationMs: elapsed(receivedAt, finishedAt.getTime()),
    ...(end.requestId === null ? {} : { requestId: end.requestId }),
  };
};

/** The state as it is stored: a long result is a payload of its own, written first. */
const stored = async (store: Pick<ExecutionStore, "putText">, state: FinalState): Promise<FinalState> => {
  if (state.resultJson === null) return state;
  const text = await store.putText(state.resultJson);
  return "json" in text ? state : { ...state, resultJson: null, resultHash: text.hash };
};

export const FREE: Charged = { millicredits: 0, grantUsed: false, costs: { costMicroUsd: 0, userCostMicroUsd: 0 } };

/** The life of one execution: every change is recorded first and announced after. */
export const createExecution = ({ store, channel }: { store: ExecutionStore; channel: EventChannel }) => {
  const announce = (executionId: string, sequence: number, said: ExecutionEvent, record?: ExecutionView): void =>
    channel.publish(executionId, { sequence, type: said.type, at: said.at.getTime(), data: said.data }, record);

  const progress = async (executionId: string, said: ExecutionEvent, node?: NodeProgress): Promise<NodeState[] | null> => {
    const changed = await store.progress(executionId, said, node);
    if (changed) announce(executionId, changed.sequence, said);
    return changed?.nodes ?? null;
  };

  return {
    /** Inserts a run that is over when it begins, with what it owes. @returns the row, or null when there is one already */
    insertFinal: async (input: RunInput, end: RunEnd, part: RunRecordPart, due: readonly Debt[]): Promise<ExecutionRecord | null> => {
      const settled = settledEvent(end);
      const whole = finalState(input, end, FREE);
      const record: ExecutionRecord = { ...newRecord(input, end.nodes, part), ...(await stored(store, whole)), due: [...due] };
      if (due.length === 0) delete record.owes;
      record.events.push(settled);
      if (!(await store.insert(record))) return null;
      countRun(end, targetOf(input), record.durationMs ?? 0);
      const row = { ...record, resultJson: whole.resultJson };
      announce(input.executionId, record.events.length, settled, row);
      return row;
    },

    callStanding: store.callStanding,

    /**
     * accepted | queued → processing, for one workflow.
     * @returns null when the run is not that workflow's to carry; `again` when it had claimed the run before
     */
    claim: async (executionId: string, attempt: number, claimedBy: string): Promise<{ row: ExecutionView; again: boolean } | null> => {
      const started = event("started", "started");
      const claimed = await store.claim(executionId, attempt, claimedBy, started);
      if (!claimed) return null;
      const { row, sequence, again } = claimed;
      if (!again) announce(executionId, sequence, row.queuedAt ? started : event("admitted", "admitted"), row);
      return { row, again };
    },

    /** accepted → refused. @returns the row as it is then; null when the run is decided otherwise */
    refuse: async (executionId: string, attempt: number, refusal: Refusal, due: readonly Debt[]): Promise<ExecutionView | null> => {
      const refused = await store.refuse(executionId, attempt, refusal, due);
      if (!refused) return null;
      countRefusal(refusal);
      announce(executionId, 0, event("refused", "refused"), refused.row);
      return refused.row;
    },

    /** accepted → queued. @returns null when the run is decided otherwise */
    queue: async (row: ExecutionView, input: RunInput, position: number): Promise<ExecutionView | null> => {
      const json = JSON.stringify(input);
      const said = event("queued", "queued", { position });
      const queued = await store.queue(row._id, row.attempt!, await store.putText(json), json.length, said);
      if (queued) announce(row._id, queued.sequence, said, queued.row);
      return queued?.row ?? null;
    },

    /** queued → cancelled | failed: nothing of it ever ran. @returns null when it does not wait in line (any more) */
    leaveLine: async (executionId: string, where: Record<string, unknown>, error: RunError | null): Promise<ExecutionView | null> => {
      const row = await store.find(executionId);
      if (row?.status !== "queued") return null;
      const status = error ? "failed" : "cancelled";
      const nodes = row.nodes.map((node): NodeState => (node.status === "pending" ? { ...node, status: "skipped" } : node));
      const end: RunEnd = { status, result: null, error, requestId: null, nodes, completed: [] };
      const events = [...(error ? [] : [event(CANCEL_REQUESTED, CANCEL_REQUESTED)]), ...missingEvents(nodes, new Set(), new Date())];
      const settled = settledEvent(end);
      const due: Debt[] = [...refusalDebts(row.attempt!), "usage", ...(row.webhook ? (["webhook"] as const) : [])];
      const state = finalState({ receivedAt: row.createdAt.getTime() }, end, FREE);
      const left = await store.leave(executionId, where, state, [...events, settled], due);
      if (!left) return null;
      countRun(end, targetOf(row), left.row.durationMs ?? 0);
      announce(executionId, left.sequence, settled, left.row);
      return left.row;
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
      const durationMs = elapsed(startedAt);
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
      const made = await store.requestCancel(executionId, userId, requested);
      if (made) announce(executionId, made.sequence, requested);
      return made !== null;
    },

    decideEnding: store.decideEnding,

    /** Makes the run final and says so. Idempotent. @returns the row, where this made it final */
    finish: async (
      run: FinishedRun,
      end: RunEnd,
      charge: Charged,
      due: readonly Debt[],
      done: readonly Debt[] = [],
    ): Promise<ExecutionView | null> => {
      const settled = settledEvent(end);
      const recorded = end.status === "completed" ? undefined : await store.eventKeys(run.executionId);
      const events = [...missingEvents(end.nodes, recorded, settled.at), settled];
      const whole = finalState(run, end, charge);
      const state = await stored(store, whole);
      const made = (await store.finish(run.executionId, state, events, due, done)) ?? (await restored(run, end, state, due));
      if (!made) return null;
      countRun(end, targetOf(made.row), made.row.durationMs ?? 0);
      // Who waits for it in this process need not read its result again.
      const row = { ...made.row, resultJson: whole.resultJson };
      announce(run.executionId, made.sequence, settled, row);
      return row;
    },
  };

  /** After a restore of the database a run's row may be gone, or be what it was before the run was claimed: it gets its end all the same. */
  async function restored({ input }: FinishedRun, end: RunEnd, state: FinalState, due: readonly Debt[]): Promise<Made | null> {
    if (!input) return null;
    const { executionId, attempt } = input;
    const row = await store.find(executionId);
    if (row && attempt !== undefined && UNDECIDED.includes(row.status)) {
      await store.claim(executionId, attempt, "restored", event("started", "started"));
      return store.finish(executionId, state, [settledEvent(end)], due);
    }
    if (row) return null;
    const record: ExecutionRecord = { ...newRecord(input, end.nodes), ...state, due: [...due] };
    if (due.length === 0) delete record.owes;
    record.events.push(settledEvent(end));
    return (await store.insert(record)) ? { row: record, sequence: record.events.length } : null;
  }
};

export interface FinishedRun extends Pick<RunInput, "executionId" | "receivedAt"> {
  /** The run as its workflow knows it. */
  input?: RunInput;
}
