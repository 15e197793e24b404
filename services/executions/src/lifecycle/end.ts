import { calledKey, CONFLICT_ATTEMPTS, unavailable } from "@nodeloom/kernel";
import { retryOnConflict } from "@nodeloom/platform";
import { billing as billingProto } from "@nodeloom/proto";
import type { Billing } from "../clients";
import { countRun } from "../meters";
import { isCharged } from "../run/call-record";
import { chargeFor, costsBehind, nodeOf, sumOf, type Charge } from "../run/charge";
import { hasReceivers } from "../run/delivery";
import { missingEvents, runEvent, type ExecutionEvent } from "../run/events";
import { skipPending } from "../run/nodes";
import {
  finalRecord,
  finalState,
  FREE,
  settledEvent,
  type Charged,
  type ExecutionView,
  type FinalState,
  type RunRecordPart,
} from "../run/record";
import { CANCEL_REQUESTED, endOutbox, isFinal, refusalOutbox, sourcesOf, UNDECIDED, type OutboxEntry } from "../run/states";
import type { CompletedCall, FinalStatus, HeldItem, NodeState, RunEnd, RunError, RunInput } from "../run/types";
import { lacks, type LogKeys } from "../record/event-log";
import type { Stores } from "../record/stores";
import type { DecidedEnding } from "../record/transitions";
import type { Execution } from "./execution";
import { estimateOf } from "./holds";
import type { Outbox } from "./outbox";

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
  execution: Pick<Execution, "announce" | "decideEnding">;
  stores: Stores;
  outbox: Pick<Outbox, "deliverFirst">;
}

export type End = ReturnType<typeof createEnd>;

const creditsBy = (captured: readonly billingProto.HeldItem[], ownerOf: (item: billingProto.HeldItem) => string): Map<string, number> => {
  const sums = new Map<string, number>();
  for (const item of captured) sums.set(ownerOf(item), (sums.get(ownerOf(item)) ?? 0) + item.millicredits);
  return sums;
};

const NOTHING: billingProto.SettleResponse = { capturedMillicredits: 0, releasedMillicredits: 0, captured: [] };

/** Members of a run that are needed to charge and end it. */
interface FinishedRun extends Pick<
  RunInput,
  "executionId" | "userId" | "holdId" | "attempt" | "receivedAt" | "modelIds" | "retentionDays"
> {
  markupPermille: number;
  /** One entry per call; null if unknown. */
  held: readonly HeldItem[] | null;
  /** True if a webhook or an endpoint is notified of the end of the run. */
  isSent: boolean;
  isItem: boolean;
  /** Used to rebuild the row if it is missing. */
  input?: RunInput;
}

const finishedRun = (input: RunInput, { extended = [] }: RunEnd): FinishedRun => ({
  ...input,
  markupPermille: input.plan.markupPermille,
  held: [...input.held, ...extended],
  isSent: hasReceivers(input),
  isItem: input.batch !== undefined,
  input,
});

const abandoned = (row: ExecutionView): FinishedRun => ({
  ...row,
  executionId: row._id,
  receivedAt: row.createdAt.getTime(),
  held: null,
  isSent: hasReceivers(row),
  isItem: row.batchId !== undefined,
});

export const createEnd = ({ billing, execution, stores, outbox }: EndOptions) => {
  const { rows, log, calls } = stores;

  /** Returns the recorded calls of a run that have this status, by their keys within the run. */
  const recordedCalls = async (executionId: string, status: "completed" | "submitted"): Promise<CompletedCall[]> =>
    (await calls.of(executionId))
      // Reused results are free.
      .filter((call) => (status === "completed" ? isCharged(call) : call.status === status) && call.reusedFrom === undefined)
      .map(({ _id, nodeId, costMicroUsd }) => ({ key: _id.slice(executionId.length + 1), nodeId, costMicroUsd }));

  /** Charges a run and releases the rest of its hold. The first settlement of a run wins. */
  const capture = async ({ holdId, userId, held }: FinishedRun, { items }: Charge): Promise<billingProto.SettleResponse> => {
    if (held?.length === 0) return NOTHING;
    const settled = items.map(({ key, captureMillicredits, consumeGrant }) => ({ key, captureMillicredits, consumeGrant }));
    return billing.settle({ executionId: holdId, userId, items: settled, captureAll: false });
  };

  /** Charges a run. Billing's answer is authoritative: the row is written from it, and the usage row from the row. */
  const chargeOf = async (run: FinishedRun, end: RunEnd): Promise<{ charged: Charged; nodes: NodeState[] }> => {
    const { executionId, held, markupPermille } = run;
    // A cancelled run is also charged for calls that may have reached their providers.
    const submitted = held && end.status === "cancelled" ? await recordedCalls(executionId, "submitted") : [];
    const underWay = [...new Set([...(end.underWay ?? []), ...submitted.map(({ key }) => key)])];
    const charge = chargeFor({ ...end, underWay }, held, markupPermille);
    const { capturedMillicredits: millicredits, captured } = await capture(run, charge);
    const behind = millicredits === sumOf(charge.items) ? charge : costsBehind(millicredits, markupPermille);
    // A node with one call has its cost in its own entry.
    const fanOuts = new Set(end.nodes.flatMap(({ id, items }) => (items > 1 ? [id] : [])));
    const byCall = creditsBy(
      captured.filter(({ key }) => fanOuts.has(nodeOf(key))),
      ({ key }) => calledKey(key),
    );
    await calls.charged(
      executionId,
      [...byCall].map(([key, credits]) => ({ key, millicredits: credits })),
    );
    const byNode = creditsBy(captured, ({ key }) => nodeOf(key));
    const { costMicroUsd } = held ? behind : charge;
    const charged: Charged = {
      millicredits,
      grantUsed: captured.some(({ source }) => source === billingProto.HoldSource.HOLD_SOURCE_GRANT),
      costs: { costMicroUsd, userCostMicroUsd: behind.userCostMicroUsd },
      modelCredits: [...creditsBy(captured, ({ model }) => model)].map(([model, credits]) => ({ model, millicredits: credits })),
      ...(run.input && run.input.held.length > 0 ? { estimatedMillicredits: estimateOf(run.input) } : {}),
    };
    return { charged, nodes: end.nodes.map((node) => ({ ...node, millicredits: byNode.get(node.id) ?? 0 })) };
  };

  /** Delivers the outbox of an ended run, then announces its end. */
  const announced = async (endedRow: ExecutionView, settled: ExecutionEvent): Promise<ExecutionView> => {
    const target = endedRow.workflowSlug === null ? "model" : "workflow";
    countRun({ ...endedRow, status: endedRow.status as FinalStatus }, target, endedRow.durationMs ?? 0);
    const row = await outbox.deliverFirst(endedRow);
    execution.announce(endedRow._id, settled);
    return row;
  };

  const endPlanned = async (input: RunInput, part: RunRecordPart, end: RunEnd): Promise<ExecutionView | null> => {
    const owedEntries = endOutbox(hasReceivers(input), input.batch !== undefined);
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
    const owedEntries = [...refusalOutbox(row.attempt), ...endOutbox(hasReceivers(row), row.batchId !== undefined)];
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

  /** Decides how a run under way ends, charges it, and makes its row final. The run can't be cancelled after the decision. */
  const finish = async (run: FinishedRun, runEnd: RunEnd): Promise<ExecutionView | null> => {
    const { executionId, input, held } = run;
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
    const owedEntries: OutboxEntry[] = [`place:${run.attempt}`, ...endOutbox(run.isSent, run.isItem)];
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
