import { CONFLICT_ATTEMPTS, unavailable } from "@nodeloom/kernel";
import { retryOnConflict } from "@nodeloom/platform";
import { newWebhookState } from "../contract/delivery";
import type { FinalStatus, NodeState, Refusal, RunEnd, RunError, RunInput } from "../contract/run-types";
import { countRefusal, countRun } from "../meters";
import type { Costs, ExecutionEvent, ExecutionRecord, ExecutionView, FinalState } from "../record/execution-record";
import type { EventChannel } from "../record/log/channel";
import { lacks, type Appended, type LogKeys } from "../record/log/event-log";
import { createJournal } from "../record/log/journal";
import { missingEvents, plannedEvents } from "../record/log/node-events";
import type { ExecutionStore } from "../record/store";
import type { DecidedEnding } from "../record/transitions";
import { initialNodes } from "../temporal/workflows/graph-run";
import { createProgress, elapsed, event } from "./progress";
import { refusalDebts, sourcesOf, UNDECIDED, type Debt } from "./states";

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

/** The row of a run that is inserted when it is over. */
const finalRecord = (input: RunInput, end: RunEnd, state: FinalState, part: RunRecordPart, due: readonly Debt[]): ExecutionRecord => {
  const { owes, ...record } = newRecord(input, end.nodes, part);
  const events = [...record.events, settledEvent(end)];
  return { ...record, ...state, events, due: [...due], ...(owes && due.length > 0 ? { owes } : {}) };
};

export const FREE: Charged = { millicredits: 0, grantUsed: false, costs: { costMicroUsd: 0, userCostMicroUsd: 0 } };

/** The life of one execution: every change is recorded first and announced after. */
export const createExecution = ({ store, channel }: { store: ExecutionStore; channel: EventChannel }) => {
  const announce = (executionId: string, said: ExecutionEvent, record?: ExecutionView): void =>
    channel.publish(executionId, { type: said.type, at: said.at.getTime(), data: said.data }, record);
  /** Who follows a run reads its log: one message says that there is something to read. */
  const announceProgress = (executionId: string, said: readonly ExecutionEvent[], { row }: Appended): void =>
    announce(executionId, said.find(({ type }) => TRANSITION_EVENTS.has(type)) ?? said.at(-1)!, row);

  const journal = createJournal({ append: store.append, announce: announceProgress });
  const { claimed: progressBegins, over: progressEnds, ...progress } = createProgress(journal);

  return {
    ...progress,
    /** Writes all progress that waits to be written. */
    flush: journal.flush,

    /**
     * Inserts a run that is over when it begins, with what it owes.
     * @param isAwaited whether anybody but its caller may know of it by now
     * @returns the row, or null when there is one already
     */
    insertFinal: async (
      input: RunInput,
      end: RunEnd,
      part: RunRecordPart,
      due: readonly Debt[],
      isAwaited = true,
    ): Promise<ExecutionRecord | null> => {
      const record = finalRecord(input, end, finalState(input, end, FREE), part, due);
      if (!(await store.insert(record))) return null;
      countRun(end, targetOf(input), record.durationMs ?? 0);
      if (isAwaited) announce(input.executionId, record.events.at(-1)!, record);
      return record;
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
      const { row, again } = claimed;
      if (!again) progressBegins(executionId, row.mode === "sync");
      if (!again) announce(executionId, row.queuedAt ? started : event("admitted", "admitted"), row);
      return { row, again };
    },

    /** accepted → refused. @returns the row as it is then; null when the run is decided otherwise */
    refuse: async (executionId: string, attempt: number, refusal: Refusal, due: readonly Debt[]): Promise<ExecutionView | null> => {
      const refused = await store.refuse(executionId, attempt, refusal, due);
      if (!refused) return null;
      countRefusal(refusal);
      announce(executionId, event("refused", "refused"), refused);
      return refused;
    },

    /** accepted → queued. @returns null when the run is decided otherwise */
    queue: async (row: ExecutionView, input: RunInput, position: number): Promise<ExecutionView | null> => {
      const json = JSON.stringify(input);
      const said = event("queued", "queued", { position });
      const queued = await store.queue(row._id, row.attempt!, await store.putText(json), json.length, said);
      if (queued) announce(row._id, said, queued);
      return queued;
    },

    /** queued → cancelled | failed: nothing of it ever ran. @returns null when it does not wait in line (any more) */
    leaveLine: async (executionId: string, where: Record<string, unknown>, error: RunError | null): Promise<ExecutionView | null> => {
      const found = await store.find(executionId);
      if (found?.status !== "queued") return null;
      const row = await store.whole(found);
      const status = error ? "failed" : "cancelled";
      const nodes = row.nodes.map((node): NodeState => (node.status === "pending" ? { ...node, status: "skipped" } : node));
      const end: RunEnd = { status, result: null, error, requestId: null, nodes, completed: [] };
      const recorded = await store.recordedKeys(await store.logKeys(executionId));
      const events = [...(error ? [] : [event(CANCEL_REQUESTED, CANCEL_REQUESTED)]), ...missingEvents(nodes, recorded, new Date())];
      const settled = settledEvent(end);
      const due: Debt[] = [...refusalDebts(row.attempt!), "usage", ...(row.webhook ? (["webhook"] as const) : [])];
      const stowed = await store.stowedEnd(finalState({ receivedAt: row.createdAt.getTime() }, end, FREE), [...events, settled]);
      const left = await store.leave(executionId, where, stowed.state, stowed.events, due);
      if (!left) return null;
      countRun(end, targetOf(left), left.durationMs ?? 0);
      announce(executionId, settled, left);
      return left;
    },

    /** @returns whether the run was under way and is being cancelled now. */
    requestCancel: async (executionId: string, userId: string): Promise<boolean> => {
      const requested = event(CANCEL_REQUESTED, CANCEL_REQUESTED);
      const made = await store.requestCancel(executionId, userId, requested);
      if (made) announce(executionId, requested);
      return made !== null;
    },

    /** Fixes how a run ends, and what its log says until then. @returns the ending that holds */
    decideEnding: async (executionId: string, ending: FinalStatus): Promise<DecidedEnding> => {
      const decided = await journal.close(executionId, (waiting) => store.decideEnding(executionId, ending, waiting));
      progressEnds(executionId);
      return decided;
    },

    /**
     * Makes a run final, and says so when what its readers look for is done. Idempotent.
     * @param pay does what the row owes to readers of its end
     * @returns whether this made it final: not where it was, nor where it is being cancelled and its ending was not decided
     */
    finish: async (
      run: FinishedRun,
      end: RunEnd,
      charge: Charged,
      due: readonly Debt[],
      pay: (row: ExecutionView) => Promise<void>,
    ): Promise<boolean> => {
      const { executionId } = run;
      const settled = settledEvent(end);
      const state = finalState(run, end, charge);
      const ended = run.decided
        ? ((await writeEnd(run, run.decided, state, settled, due)) ?? (await restored(run, end, state, due)))
        : await endAtOnce(run, state, settled, due);
      if (!ended) return false;
      countRun(end, targetOf(ended), ended.durationMs ?? 0);
      await pay(ended);
      // Who waits for it in this process need not read its result again, nor pay.
      announce(executionId, settled, { ...ended, due: [], resultJson: state.resultJson });
      return true;
    },
  };

  /**
   * Writes the end of a run that nobody has decided on, if it is not being cancelled, with what its log is known to lack.
   * @returns null where that can't be done by one write: then its ending is to be decided first
   */
  async function endAtOnce(
    { executionId, input }: FinishedRun,
    state: FinalState,
    settled: ExecutionEvent,
    due: readonly Debt[],
  ): Promise<ExecutionView | null> {
    const begun = input ? plannedEvents(initialNodes(input.plan), settled.at).map(({ key }) => key) : [];
    const ended = await journal.close(executionId, async (waiting, recorded = new Set(begun)) => {
      const missing = missingEvents(state.nodes, new Set([...recorded, ...waiting.map(({ key }) => key)]), settled.at);
      const events = [...waiting, ...missing, settled];
      const stowed = await store.stowedEnd(state, events);
      return store.finish(executionId, stowed.state, stowed.events, due, { ending: null, ...lacks(events) });
    });
    if (ended) progressEnds(executionId);
    return ended;
  }

  /**
   * Writes a run's end with what its log lacks. Nothing is appended to that any more, but the last of it may still be put away,
   * and a process of an earlier release may append: then it is read again.
   * @returns null where the run can't be ended: it is over, or is what it was before it was claimed
   */
  async function writeEnd(
    { executionId }: FinishedRun,
    { events: known, logParts }: DecidedEnding,
    state: FinalState,
    settled: ExecutionEvent,
    due: readonly Debt[],
  ): Promise<ExecutionView | null> {
    const made = await retryOnConflict(CONFLICT_ATTEMPTS.runEnd, async (look) => {
      const keys: LogKeys = look === 1 && known ? { events: known, logParts } : await store.logKeys(executionId);
      const events = [...missingEvents(state.nodes, await store.recordedKeys(keys), settled.at), settled];
      const stowed = await store.stowedEnd(state, events);
      const ended = await store.finish(executionId, stowed.state, stowed.events, due, lacks(events, keys.logParts));
      if (ended) return ended;
      const row = await store.find(executionId);
      return row && sourcesOf("finish", state.status).includes(row.status) ? undefined : null;
    });
    if (made === undefined) throw unavailable("the log of a run changes too often", 1);
    return made;
  }

  /** After a restore of the database a run's row may be gone, or be what it was before the run was claimed: it gets its end all the same. */
  async function restored({ input }: FinishedRun, end: RunEnd, state: FinalState, due: readonly Debt[]): Promise<ExecutionView | null> {
    if (!input) return null;
    const { executionId, attempt } = input;
    const row = await store.find(executionId);
    if (row && attempt !== undefined && UNDECIDED.includes(row.status)) {
      await store.claim(executionId, attempt, "restored", event("started", "started"));
      const stowed = await store.stowedEnd(state, [settledEvent(end)]);
      return store.finish(executionId, stowed.state, stowed.events, due);
    }
    if (row) return null;
    const record = finalRecord(input, end, state, {}, due);
    return (await store.insert(record)) ? record : null;
  }
};

export interface FinishedRun extends Pick<RunInput, "executionId" | "receivedAt"> {
  /** The run as its workflow knows it. */
  input?: RunInput;
  /** Where its ending was decided: how, and what its log had by then. */
  decided?: DecidedEnding | undefined;
}
