/** money/: what runs hold, and what they are charged. */
import { billing as billingProto } from "@nodeloom/proto";
import type { Billing } from "../clients";
import type { CompletedCall, FinalStatus, HeldItem, NodeState, RunEnd, RunError, RunInput, RunOutcome } from "../run/types";
import type { Costs, ExecutionView } from "../run/record";
import type { Stores } from "../store/stores";
import type { DecidedEnding } from "../store/transitions";
import { skipPending } from "../run/graph-run";
import type { Debts } from "./outbox";
import type { Execution } from "./execution";
import type { FinishedRun } from "./end-writes";
import { elapsed } from "../run/events";
import { endDebts, isFinal, type Debt } from "../run/states";
import { chargeFor, costsBehind, nodeOf, sumOf, type Charge } from "../run/charge";

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
const decidedEnd = (end: RunEnd, ending: FinalStatus): RunEnd => {
  if (ending === end.status || ending !== "cancelled") return end;
  return { ...end, status: "cancelled", error: null };
};

/** How a run stands that was ended from outside: what was under way is given up. */
const abandonedEnd = ({ nodes, requestId }: ExecutionView, status: FinalStatus, error: RunError, completed: CompletedCall[]): RunEnd => ({
  status,
  result: null,
  error: status === "failed" ? error : null,
  requestId,
  nodes: skipPending(nodes).map((node) => {
    if (node.status !== "processing") return node;
    const durationMs = node.startedAt === null ? null : elapsed(node.startedAt);
    return { ...node, status: "cancelled", cancelReport: "could_not_stop", durationMs };
  }),
  completed,
});

/** What each model took. */
const creditsByModel = (captured: readonly billingProto.HeldItem[]): { model: string; millicredits: number }[] =>
  [...creditsBy(captured, ({ model }) => model)].map(([model, millicredits]) => ({ model, millicredits }));

const NOTHING: billingProto.SettleResponse = { capturedMillicredits: 0, releasedMillicredits: 0, captured: [] };

export interface SettlementOptions {
  billing: Pick<Billing, "settle">;
  execution: Pick<Execution, "decideEnding" | "finish">;
  stores: Pick<Stores, "calls" | "rows" | "log">;
  debts: Pick<Debts, "payNow" | "ending">;
}

export type Settlement = ReturnType<typeof createSettlement>;

/**
 * Ends the money of runs. What billing answers is the truth, because the first settlement of an execution is the only one: the row
 * is written from its answer, and the usage row from that, so that all three always agree.
 */
export const createSettlement = ({ billing, execution, stores, debts }: SettlementOptions) => {
  /** What is closed: a run, or its row. */
  type ClosingRun = FinishedRun & { attempt: number; hasWebhook: boolean };

  /** @returns whether that ended the run: see `finish` */
  const close = async (run: ClosingRun, end: RunEnd, costs: Costs, settled: billingProto.SettleResponse): Promise<boolean> => {
    const { capturedMillicredits: millicredits, captured } = settled;
    debts.ending(run.executionId);
    const grantUsed = captured.some(({ source }) => source === billingProto.HoldSource.HOLD_SOURCE_GRANT);
    // A node of one call says itself what that cost.
    const fanOuts = new Set(end.nodes.flatMap(({ id, items }) => (items > 1 ? [id] : [])));
    await stores.calls.charged(
      run.executionId,
      captured.filter(({ key }) => fanOuts.has(nodeOf(key))),
    );
    const due: Debt[] = [`place:${run.attempt}`, ...endDebts(run.hasWebhook)];
    return execution.finish(
      run,
      { ...end, nodes: withReceipts(end.nodes, captured) },
      { millicredits, grantUsed, costs, modelCredits: creditsByModel(captured) },
      due,
      debts.payNow,
    );
  };

  /** Captures a charge and releases the rest of its hold. What an earlier settlement has decided stands. */
  const capture = ({ holdId, userId }: Pick<RunInput, "holdId" | "userId">, charge: Charge): Promise<billingProto.SettleResponse> => {
    const items = charge.items.map(({ key, captureMillicredits, consumeGrant }) => ({ key, captureMillicredits, consumeGrant }));
    return billing.settle({ executionId: holdId, userId, items, captureAll: false });
  };

  /** Calls that may have reached their providers, as far as they are recorded, beside those that the workflow knows of. */
  const underWayOf = async (executionId: string, end: RunEnd): Promise<string[]> => {
    const prefix = executionId.length + 1;
    const recorded = (await stores.calls.of(executionId))
      .filter(({ status }) => status === "submitted")
      .map(({ _id }) => _id.slice(prefix));
    return [...new Set([...(end.underWay ?? []), ...recorded])];
  };

  /**
   * Takes what a run owes and closes it.
   * @param decided how it ends; undefined: as `end` has it, unless it is being cancelled
   * @returns undefined where that did not end it
   */
  const settleAs = async (input: RunInput, end: RunEnd, held: HeldItem[], decided?: DecidedEnding): Promise<RunOutcome | undefined> => {
    const { executionId } = input;
    const { markupPermille } = input.plan;
    const underWay = end.status === "cancelled" ? await underWayOf(executionId, end) : [];
    const charge = chargeFor({ ...end, underWay }, held, markupPermille);
    const settled = held.length === 0 ? NOTHING : await capture(input, charge);
    const { capturedMillicredits: millicredits } = settled;
    const { costMicroUsd, userCostMicroUsd } = millicredits === sumOf(charge.items) ? charge : costsBehind(millicredits, markupPermille);
    const hasWebhook = input.webhook !== null && input.keyId !== null;
    const isEnded = await close(
      { ...input, input, ...(decided ? { decided } : {}), hasWebhook },
      end,
      { costMicroUsd, userCostMicroUsd },
      settled,
    );
    return isEnded || decided ? { status: end.status, millicredits } : undefined;
  };

  return {
    /**
     * Captures what is owed, releases the rest and closes the rows. Idempotent by execution id. From when it is paid for, a run is not
     * cancelled any more: its ending is decided before. One that has completed, and costs nothing, is ended at once where that is possible.
     */
    settle: async (input: RunInput, seen: RunEnd): Promise<RunOutcome> => {
      const held = [...input.held, ...(seen.extended ?? [])];
      const atOnce = seen.status === "completed" && held.length === 0 ? await settleAs(input, seen, held) : undefined;
      if (atOnce) return atOnce;
      const decided = await execution.decideEnding(input.executionId, seen.status);
      const end = decidedEnd(seen, decided.ending);
      return (await settleAs(input, end, held, decided))!;
    },

    /**
     * Ends a run that nothing carries any more. It is charged for the calls that are recorded as completed, and for nothing else. What an earlier settlement has decided stands. Idempotent.
     */
    abandon: async (record: ExecutionView, error: RunError): Promise<FinalStatus> => {
      const { _id: executionId, markupPermille, createdAt } = record;
      const wanted = record.status === "cancel_requested" ? "cancelled" : "failed";
      const decided = await execution.decideEnding(executionId, wanted);
      const status = decided.ending === "cancelled" ? "cancelled" : "failed";
      // Its workflow may have ended it while Temporal was asked for it.
      const row = await stores.rows.find(executionId);
      if (row && isFinal(row)) return row.status as FinalStatus;
      const prefix = executionId.length + 1;
      const completed = (await stores.calls.of(executionId))
        .filter((call) => call.status === "completed")
        .map(({ _id, nodeId, costMicroUsd }): CompletedCall => ({ key: _id.slice(prefix), nodeId, costMicroUsd }));
      const charge = chargeFor({ status, error: null, completed }, null, markupPermille);
      const settled = await capture(record, charge);
      const hasWebhook = record.webhook !== null && record.keyId !== null;
      const run: ClosingRun = { executionId, attempt: record.attempt, receivedAt: createdAt.getTime(), hasWebhook, decided };
      const costs = { ...costsBehind(settled.capturedMillicredits, markupPermille), costMicroUsd: charge.costMicroUsd };
      await close(run, abandonedEnd(await stores.log.current(record), status, error, completed), costs, settled);
      return status;
    },
  };
};
