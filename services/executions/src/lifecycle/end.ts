import { CONFLICT_ATTEMPTS, unavailable, innerOwner } from "@nodeloom/kernel";
import { retryOnConflict, inMediaBatches } from "@nodeloom/platform";
import type { Billing, Media } from "../clients";
import { countRun } from "../meters";
import { hasReceivers } from "../run/delivery";
import { endEvents, missingEvents, runEvent, type ExecutionEvent } from "../run/events";
import { initialNodes, skipPending } from "../run/nodes";
import { finalRecord, finalState, FREE, settledEvent, type ExecutionView, type FinalState, type RunRecordPart } from "../run/record";
import { CANCEL_REQUESTED, endOutbox, isFinal, refusalOutbox, sourcesOf, UNDECIDED, type OutboxEntry } from "../run/states";
import type { FinalStatus, RunEnd, RunError, RunInput } from "../run/types";
import { lacks, requestIdIn, type LogKeys } from "../record/runs/event-log";
import type { Stores } from "../record/stores";
import type { DecidedEnding } from "../record/runs/transitions";
import { abandoned, createCharging, finishedRun, type FinishedRun } from "./holds";
import type { Execution } from "./execution";
import type { Outbox } from "./outbox";
import { keysIn } from "../plan/files";

/**
 * A run to end. `from` is its state. `plan`: the plan has no calls, and there is no row. `queue`: the run was queued and nothing ran.
 * `workflow`: its workflow reached the end. `lost`: no workflow runs it any more.
 */
export type EndingRun =
  | { from: "plan"; input: RunInput; part: RunRecordPart }
  | { from: "queue"; row: ExecutionView; where: Record<string, unknown> }
  | { from: "workflow"; input: RunInput }
  | { from: "lost"; row: ExecutionView };

export interface EndOptions {
  billing: Pick<Billing, "settle">;
  execution: Pick<Execution, "announce" | "decideEnding" | "endAtOnce">;
  stores: Stores;
  outbox: Pick<Outbox, "deliverFirst">;
}

export type End = ReturnType<typeof createEnd>;

export const createEnd = ({ billing, execution, stores, outbox }: EndOptions) => {
  const { rows, log } = stores;
  const { recordedCalls, chargeOf } = createCharging(billing, stores.calls);

  /** Delivers the outbox of an ended run, then announces its end. */
  const announced = async (endedRow: ExecutionView, settled: ExecutionEvent): Promise<ExecutionView> => {
    const target = endedRow.workflowSlug === null ? "model" : "workflow";
    countRun({ ...endedRow, status: endedRow.status as FinalStatus }, target, endedRow.durationMs ?? 0);
    const row = await outbox.deliverFirst(endedRow);
    execution.announce(endedRow._id, settled, row);
    return row;
  };

  const endPlanned = async (input: RunInput, part: RunRecordPart, end: RunEnd): Promise<ExecutionView | null> => {
    const owedEntries = endOutbox(hasReceivers(input), finishedRun(input, end));
    const state = finalState({ ...input, isItem: input.batch !== undefined }, end, FREE);
    const record = finalRecord(input, end, state, part, owedEntries);
    return (await rows.insert(record)) ? announced(record, record.events.at(-1)!) : null;
  };

  const leaveQueue = async (row: ExecutionView, where: Record<string, unknown>, end: RunEnd): Promise<ExecutionView | null> => {
    const recorded = await log.recordedKeys(await log.logKeys(row._id));
    const cancelled = end.status === "cancelled" ? [runEvent(CANCEL_REQUESTED)] : [];
    const settled = settledEvent(end);
    const events = [...cancelled, ...missingEvents(end.nodes, recorded, new Date()), settled];
    const { retentionDays, batchId } = row;
    const run = {
      receivedAt: row.createdAt.getTime(),
      ...(retentionDays === undefined ? {} : { retentionDays }),
      isItem: batchId !== undefined,
    };
    const stowed = await log.stowedEnd(finalState(run, end, FREE), events, row._id);
    const owedEntries = [...refusalOutbox(row.attempt), ...endOutbox(hasReceivers(row), abandoned(row))];
    const endedRow = await rows.leave(row._id, where, stowed.state, stowed.events, owedEntries);
    return endedRow && announced(endedRow, settled);
  };

  /**
   * Writes the decided end of a run and the missing part of its log in one conditional update. Nothing is appended to the log afterwards,
   * but its tail may still be moved to storage; in that case the row is read again.
   * @returns null if the run can't be ended: it has already ended, or its row is older than its claim
   */
  const writeEnd = async (
    executionId: string,
    { events: knownEvents, logParts, requestId }: DecidedEnding,
    state: FinalState,
    settled: ExecutionEvent,
    owedEntries: readonly OutboxEntry[],
  ): Promise<ExecutionView | null> => {
    const endedRow = await retryOnConflict(CONFLICT_ATTEMPTS.runEnd, async (look) => {
      const keys: LogKeys = look === 1 && knownEvents ? { events: knownEvents, logParts } : await log.logKeys(executionId);
      const events = [...missingEvents(state.nodes, await log.recordedKeys(keys), settled.at), settled];
      // Keep the request id that the client already has.
      const stowed = await log.stowedEnd({ ...state, ...(requestId ? { requestId } : {}) }, events, executionId);
      const finishedRow = await rows.finish(executionId, stowed.state, stowed.events, owedEntries, lacks(events, keys.logParts));
      if (finishedRow) return finishedRow;
      const row = await rows.find(executionId);
      return row && sourcesOf("finish", state.status).includes(row.status) ? undefined : null;
    });
    if (endedRow === undefined) throw unavailable("the log of the run is changing too often: retry", 1);
    return endedRow;
  };

  /** After a database restore, a run's row may be missing or older than its claim. The run is still ended. */
  const restored = async (
    input: RunInput,
    end: RunEnd,
    state: FinalState,
    owedEntries: readonly OutboxEntry[],
  ): Promise<ExecutionView | null> => {
    const { executionId, attempt } = input;
    const row = await rows.find(executionId);
    if (row && UNDECIDED.includes(row.status)) {
      await rows.claim(executionId, attempt, "restored", runEvent("started"));
      const stowed = await log.stowedEnd(state, [settledEvent(end)], executionId);
      return rows.finish(executionId, stowed.state, stowed.events, owedEntries);
    }
    if (row) return null;
    const record = finalRecord(input, end, state, {}, owedEntries);
    return (await rows.insert(record)) ? record : null;
  };

  const endEntries = (run: FinishedRun): OutboxEntry[] => [`place:${run.attempt}`, ...endOutbox(run.isSent, run)];

  /**
   * Ends a run that holds nothing. Nothing happens between the decision and the end, so one update writes both.
   * @returns null if the run was cancelled or its log isn't as expected: the end is then decided first
   */
  const finishUnpaid = async (run: FinishedRun, input: RunInput, runEnd: RunEnd): Promise<ExecutionView | null> => {
    const { executionId } = run;
    const { charged, nodes } = await chargeOf(run, runEnd);
    const state = finalState(run, { ...runEnd, nodes }, charged);
    const settled = settledEvent(runEnd);
    const endedRow = await execution.endAtOnce(executionId, async (waiting, knownLog) => {
      // The log of a run begins with the ends of the nodes that were evaluated during planning.
      const recordedKeys = knownLog?.recorded ?? new Set(endEvents(initialNodes(input.plan), settled.at).map(({ key }) => key));
      const added = waiting.filter(({ key }) => !recordedKeys.has(key));
      const missing = missingEvents(state.nodes, new Set([...recordedKeys, ...added.map(({ key }) => key)]), settled.at);
      // Without a known log, another process may have recorded the ends of nodes.
      if (!knownLog && missing.some(({ type }) => type !== "node.skipped")) return null;
      const events = [...added, ...missing, settled];
      const requestId = knownLog?.requestId ?? requestIdIn(added);
      const stowed = await log.stowedEnd({ ...state, ...(requestId ? { requestId } : {}) }, events, executionId);
      const where = { ending: null, requestId: knownLog?.requestId ?? null, ...lacks(events, knownLog?.parts) };
      return rows.finish(executionId, stowed.state, stowed.events, endEntries(run), where);
    });
    return endedRow && announced(endedRow, settled);
  };

  /** Decides how a run under way ends, charges it, and makes its row final. The run can't be cancelled after the decision. */
  const finish = async (run: FinishedRun, runEnd: RunEnd): Promise<ExecutionView | null> => {
    const { executionId, input, held } = run;
    const isUnpaid = held?.length === 0 && runEnd.status !== "cancelled";
    const unpaidRow = input && isUnpaid ? await finishUnpaid(run, input, runEnd) : null;
    if (unpaidRow) return unpaidRow;
    const decided = await execution.decideEnding(executionId, runEnd.status);
    if (decided.status && isFinal({ status: decided.status })) return rows.find(executionId);
    // A cancellation that was accepted before the end wins, but the run keeps its result.
    const isCancelled = decided.ending === "cancelled" && runEnd.status !== "cancelled";
    const end: RunEnd = {
      ...runEnd,
      ...(held ? {} : { completed: await recordedCalls(executionId, "completed") }),
      ...(isCancelled ? { status: "cancelled", error: null } : {}),
    };
    const { charged, nodes } = await chargeOf(run, end);
    const state = finalState(run, { ...end, nodes }, charged);
    const settled = settledEvent(end);
    const owedEntries = endEntries(run);
    const endedRow =
      (await writeEnd(executionId, decided, state, settled, owedEntries)) ??
      (input ? await restored(input, { ...end, nodes }, state, owedEntries) : null);
    return endedRow ? announced(endedRow, settled) : rows.find(executionId);
  };

  /** @returns the final row; null if this call didn't end the run, because it already has a row or has left the queue */
  const end = (run: EndingRun, runEnd: RunEnd): Promise<ExecutionView | null> => {
    switch (run.from) {
      case "plan":
        return endPlanned(run.input, run.part, runEnd);
      case "queue":
        return leaveQueue(run.row, run.where, runEnd);
      case "workflow":
        return finish(finishedRun(run.input, runEnd), runEnd);
      case "lost":
        return finish(abandoned(run.row), runEnd);
    }
  };

  return {
    end,

    /**
     * Ends a queued run as cancelled or failed.
     * @param where further conditions on the row
     * @returns null if the run isn't queued
     */
    endQueued: async (executionId: string, where: Record<string, unknown>, error: RunError | null): Promise<ExecutionView | null> => {
      const queuedRow = await rows.find(executionId);
      if (queuedRow?.status !== "queued") return null;
      const row = await log.whole(queuedRow);
      const status = error ? "failed" : "cancelled";
      return end(
        { from: "queue", row, where },
        { status, result: null, error, requestId: null, nodes: skipPending(row.nodes), completed: [] },
      );
    },
  };
};

export interface GivenFilesOptions {
  media: Pick<Media, "giveObjects">;
  /** Address prefix of the platform's own storage. */
  own: string;
}

/**
 * Wraps `end`: first transfers files to the run's user. They were created inside a graph that the user can't read, and the result refers to
 * them.
 */
export const withGivenFiles = ({ end, ...rest }: End, { media, own }: GivenFilesOptions): End => {
  const give = async ({ userId, plan }: RunInput, result: Record<string, unknown> | null): Promise<void> => {
    if (!plan.hidesOutputs || result === null) return;
    const owners = { fromOwnerId: innerOwner(userId), ownerId: userId };
    await inMediaBatches(keysIn(JSON.stringify(result), own), async (batch) => {
      await media.giveObjects({ ...owners, keys: batch });
      return [];
    });
  };
  return {
    ...rest,
    end: async (run, runEnd) => {
      if ("input" in run) await give(run.input, runEnd.result);
      return end(run, runEnd);
    },
  };
};
