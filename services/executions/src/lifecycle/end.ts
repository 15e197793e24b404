import { billing as billingProto } from "@nodeloom/proto";
import type { Billing } from "../clients";
import { countRun } from "../meters";
import { chargeFor, costsBehind, nodeOf, sumOf, type Charge } from "../run/charge";
import { runEvent } from "../run/events";
import { skipPending } from "../run/graph-run";
import { finalRecord, finalState, FREE, settledEvent, targetOf, type Charged, type RunRecordPart } from "../run/new-record";
import { missingEvents } from "../run/node-events";
import type { ExecutionEvent, ExecutionRecord, ExecutionView, FinalState } from "../run/record";
import { CANCEL_REQUESTED, endOutbox, isFinal, refusalOutbox, type OutboxEntry } from "../run/states";
import type { CompletedCall, FinalStatus, HeldItem, NodeState, RunEnd, RunError, RunInput } from "../run/types";
import type { Stores } from "../store/stores";
import type { DecidedEnding } from "../store/transitions";
import { createEndWrites } from "./end-writes";
import type { Execution } from "./execution";
import type { Outbox } from "./outbox";

/** How runs end: workflows, the line, planning and the reconciler all call `end`. */

/**
 * A run that is over, by where it stands. `plan`: planning left nothing to call, and it has no row. `line`: it waits in line, and
 * nothing of it ran. `workflow`: its workflow has carried it to its end. `lost`: nothing carries it any more.
 */
export type EndingRun =
  | { from: "plan"; input: RunInput; part: RunRecordPart }
  | { from: "line"; row: ExecutionView; where: Record<string, unknown> }
  | { from: "workflow"; input: RunInput }
  | { from: "lost"; row: ExecutionView };

export interface EndOptions {
  billing: Pick<Billing, "settle">;
  execution: Pick<Execution, "announce" | "decideEnding" | "progressEnds">;
  stores: Stores;
  outbox: Pick<Outbox, "deliverFirst">;
}

export type End = ReturnType<typeof createEnd>;

/** Milli-credits by what a captured call belongs to. */
const creditsBy = (captured: readonly billingProto.HeldItem[], ownerOf: (item: billingProto.HeldItem) => string): Map<string, number> => {
  const sums = new Map<string, number>();
  for (const item of captured) sums.set(ownerOf(item), (sums.get(ownerOf(item)) ?? 0) + item.millicredits);
  return sums;
};

/** Each node with what was captured for its calls. */
const withReceipts = (nodes: readonly NodeState[], captured: readonly billingProto.HeldItem[]): NodeState[] => {
  const byNode = creditsBy(captured, ({ key }) => nodeOf(key));
  return nodes.map((node) => ({ ...node, millicredits: byNode.get(node.id) ?? 0 }));
};

/** How a run really ended: a cancellation that was accepted before the end wins, and keeps the result if there is one. */
const decidedEnd = (end: RunEnd, { ending }: DecidedEnding): RunEnd =>
  ending === end.status || ending !== "cancelled" ? end : { ...end, status: "cancelled", error: null };

const NOTHING: billingProto.SettleResponse = { capturedMillicredits: 0, releasedMillicredits: 0, captured: [] };

interface FinishedRun extends Pick<RunInput, "executionId" | "userId" | "holdId" | "attempt" | "receivedAt"> {
  markupPermille: number;
  /** Call by call; null where it is not known. */
  held: readonly HeldItem[] | null;
  hasWebhook: boolean;
  /** What its row is made from, should that be gone. */
  input?: RunInput;
}

const carried = (input: RunInput, { extended = [] }: RunEnd): FinishedRun => ({
  ...input,
  markupPermille: input.plan.markupPermille,
  held: [...input.held, ...extended],
  hasWebhook: input.webhook !== null && input.keyId !== null,
  input,
});

const abandoned = (row: ExecutionView): FinishedRun => ({
  ...row,
  executionId: row._id,
  receivedAt: row.createdAt.getTime(),
  held: null,
  hasWebhook: row.webhook !== null && row.keyId !== null,
});

type Bill = FinishedRun & { end: RunEnd };

export const createEnd = ({ billing, execution, stores, outbox }: EndOptions) => {
  const writes = createEndWrites(stores);
  const { rows, log, calls } = stores;

  /** Calls of a run by their keys within it, as far as they are recorded. */
  const recordedCalls = async (executionId: string) =>
    (await calls.of(executionId)).map((call) => ({ ...call, key: call._id.slice(executionId.length + 1) }));

  /** Calls that may have reached their providers, as far as they are recorded, beside those that the workflow knows of. */
  const underWayOf = async (executionId: string, end: RunEnd): Promise<string[]> => {
    const submitted = (await recordedCalls(executionId)).filter(({ status }) => status === "submitted");
    return [...new Set([...(end.underWay ?? []), ...submitted.map(({ key }) => key)])];
  };

  /** Captures a charge and releases the rest of its hold. The first settlement of a run stands. */
  const capture = async ({ holdId, userId, held }: Bill, { items }: Charge): Promise<billingProto.SettleResponse> => {
    if (held?.length === 0) return NOTHING;
    const settled = items.map(({ key, captureMillicredits, consumeGrant }) => ({ key, captureMillicredits, consumeGrant }));
    return billing.settle({ executionId: holdId, userId, items: settled, captureAll: false });
  };

  /** Charges a run. What billing answers is the truth: the row is written from its answer, and the usage row from that. */
  const chargeOf = async (bill: Bill): Promise<{ charged: Charged; nodes: NodeState[] }> => {
    const { executionId, held, end, markupPermille } = bill;
    const underWay = held && end.status === "cancelled" ? await underWayOf(executionId, end) : [];
    const charge = chargeFor({ ...end, underWay }, held, markupPermille);
    const { capturedMillicredits: millicredits, captured } = await capture(bill, charge);
    const behind = millicredits === sumOf(charge.items) ? charge : costsBehind(millicredits, markupPermille);
    // A node of one call says itself what that cost.
    const fanOuts = new Set(end.nodes.flatMap(({ id, items }) => (items > 1 ? [id] : [])));
    await calls.charged(
      executionId,
      captured.filter(({ key }) => fanOuts.has(nodeOf(key))),
    );
    const { costMicroUsd } = held ? behind : charge;
    const charged: Charged = {
      millicredits,
      grantUsed: captured.some(({ source }) => source === billingProto.HoldSource.HOLD_SOURCE_GRANT),
      costs: { costMicroUsd, userCostMicroUsd: behind.userCostMicroUsd },
      modelCredits: [...creditsBy(captured, ({ model }) => model)].map(([model, credits]) => ({ model, millicredits: credits })),
    };
    return { charged, nodes: withReceipts(end.nodes, captured) };
  };

  /** Who is told of an end finds its usage row there, and its place free. @param resultJson what the row may have put away */
  const announced = async (ended: ExecutionView, settled: ExecutionEvent, resultJson = ended.resultJson): Promise<ExecutionView> => {
    execution.progressEnds(ended._id);
    countRun({ ...ended, status: ended.status as FinalStatus }, targetOf(ended), ended.durationMs ?? 0);
    const row = await outbox.deliverFirst(ended);
    execution.announce(ended._id, settled, { ...row, resultJson });
    return row;
  };

  const endPlanned = async (input: RunInput, part: RunRecordPart, end: RunEnd): Promise<ExecutionView | null> => {
    const record: ExecutionRecord = finalRecord(input, end, finalState(input, end, FREE), part, endOutbox(input.webhook !== null));
    return (await rows.insert(record)) ? announced(record, record.events.at(-1)!) : null;
  };

  const leaveLine = async (row: ExecutionView, where: Record<string, unknown>, end: RunEnd): Promise<ExecutionView | null> => {
    const recorded = await log.recordedKeys(await log.logKeys(row._id));
    const cancelled = end.status === "cancelled" ? [runEvent(CANCEL_REQUESTED)] : [];
    const settled = settledEvent(end);
    const events = [...cancelled, ...missingEvents(end.nodes, recorded, new Date()), settled];
    const stowed = await log.stowedEnd(finalState({ receivedAt: row.createdAt.getTime() }, end, FREE), events);
    const left = [...refusalOutbox(row.attempt), ...endOutbox(row.webhook !== null)];
    const ended = await rows.leave(row._id, where, stowed.state, stowed.events, left);
    return ended && announced(ended, settled);
  };

  /** Completed calls, as far as they are recorded: all that a run is charged for whose workflow is lost. */
  const completedCalls = async (executionId: string): Promise<CompletedCall[]> =>
    (await recordedCalls(executionId))
      .filter(({ status }) => status === "completed")
      .map(({ key, nodeId, costMicroUsd }) => ({ key, nodeId, costMicroUsd }));

  /** Decides how a run that is under way ends, charges it, and makes its row final. From the decision on it can't be cancelled. */
  const finish = async (run: FinishedRun, seen: RunEnd): Promise<ExecutionView | null> => {
    const { executionId, input, held } = run;
    const decided = await execution.decideEnding(executionId, seen.status);
    if (decided.status && isFinal({ status: decided.status })) return rows.find(executionId);
    const end = decidedEnd(held ? seen : { ...seen, completed: await completedCalls(executionId) }, decided);
    const { charged, nodes } = await chargeOf({ ...run, end });
    const state: FinalState = finalState(run, { ...end, nodes }, charged);
    const settled = settledEvent(end);
    const left: OutboxEntry[] = [`place:${run.attempt}`, ...endOutbox(run.hasWebhook)];
    const ended =
      (await writes.finish(executionId, decided, state, settled, left)) ??
      (input ? await writes.restored(input, { ...end, nodes }, state, left) : null);
    return ended ? announced(ended, settled, state.resultJson) : rows.find(executionId);
  };

  /** @returns the final row; null where the run is not over: it has a row already, or waits in line no more */
  const end = (run: EndingRun, seen: RunEnd): Promise<ExecutionView | null> => {
    switch (run.from) {
      case "plan":
        return endPlanned(run.input, run.part, seen);
      case "line":
        return leaveLine(run.row, run.where, seen);
      case "workflow":
        return finish(carried(run.input, seen), seen);
      case "lost":
        return finish(abandoned(run.row), seen);
    }
  };

  return {
    end,

    /**
     * Ends a run that waits in line, as cancelled or with an error.
     * @param where what must be so of its row
     * @returns null when it does not wait in line (any more)
     */
    endQueued: async (executionId: string, where: Record<string, unknown>, error: RunError | null): Promise<ExecutionView | null> => {
      const found = await rows.find(executionId);
      if (found?.status !== "queued") return null;
      const row = await log.whole(found);
      const status = error ? "failed" : "cancelled";
      return end(
        { from: "line", row, where },
        { status, result: null, error, requestId: null, nodes: skipPending(row.nodes), completed: [] },
      );
    },
  };
};
