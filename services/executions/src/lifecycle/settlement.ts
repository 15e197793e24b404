import { userCostMicroUsd } from "@nodeloom/kernel";
import { billing as billingProto } from "@nodeloom/proto";
import { runStart } from "./admission";
import type { Billing, Usage } from "../clients";
import type { Execution } from "./execution";
import type { CompletedCall, FinalStatus, HeldItem, NodeState, RunEnd, RunError, RunInput, RunOutcome } from "../contract/run-types";
import type { ExecutionView } from "../record/store";

const MICRO_USD_PER_MILLICREDIT = 10;
const PERMILLE = 1_000;

/** What a run owes, call by call. */
export interface Charge {
  /** Calls whose hold is captured; all others are released. */
  items: { key: string; nodeId: string; captureMillicredits: number; consumeGrant: boolean }[];
  /** Capture everything that is held. */
  captureAll: boolean;
  /** What the providers charge, in micro-dollars. */
  costMicroUsd: number;
  /** What the user pays, in micro-dollars. */
  userCostMicroUsd: number;
}

const nodeOf = (key: string): string => key.slice(0, key.lastIndexOf(":"));

/** Wholesale price behind a number of milli-credits under a markup. */
const wholesale = (millicredits: number, markupPermille: number): number =>
  Math.round((millicredits * MICRO_USD_PER_MILLICREDIT * PERMILLE) / markupPermille);

const cancelled = (held: readonly HeldItem[], completed: readonly CompletedCall[], markupPermille: number): Charge => {
  const items = held.map((item) => ({
    key: item.key,
    nodeId: nodeOf(item.key),
    captureMillicredits: item.source === "credits" ? item.millicredits : 0,
    consumeGrant: item.source === "grant",
  }));
  const paid = items.reduce((sum, item) => sum + item.captureMillicredits, 0);
  const byGrant = completed.filter((call) => held.some((item) => item.key === call.key && item.source === "grant"));
  return {
    items,
    captureAll: true,
    costMicroUsd: wholesale(paid, markupPermille) + byGrant.reduce((sum, call) => sum + call.costMicroUsd, 0),
    userCostMicroUsd: paid * MICRO_USD_PER_MILLICREDIT,
  };
};

/**
 * The settlement table. Completed: what was used. Failed: the calls that completed. Without the expected output:
 * nothing. Cancelled: everything that was held.
 */
export const chargeFor = (
  end: { status: FinalStatus; error: RunEnd["error"]; completed: readonly CompletedCall[] },
  held: readonly HeldItem[],
  markupPermille: number,
): Charge => {
  if (end.status === "cancelled") return cancelled(held, end.completed, markupPermille);
  if (end.error?.code === "PROVIDER_RESPONSE_INCOMPLETE") return { items: [], captureAll: false, costMicroUsd: 0, userCostMicroUsd: 0 };
  const sources = new Map(held.map((item) => [item.key, item]));
  let capturedMillicredits = 0;
  const charge: Charge = { items: [], captureAll: false, costMicroUsd: 0, userCostMicroUsd: 0 };
  for (const call of end.completed) {
    const item = sources.get(call.key);
    if (!item) continue;
    charge.costMicroUsd += call.costMicroUsd;
    if (item.source === "grant") {
      charge.items.push({ key: call.key, nodeId: call.nodeId, captureMillicredits: 0, consumeGrant: true });
      continue;
    }
    // The hold is the ceiling: what a call cost above its worst case is the platform's loss.
    charge.userCostMicroUsd += Math.min(userCostMicroUsd(call.costMicroUsd, markupPermille), item.millicredits * MICRO_USD_PER_MILLICREDIT);
    // The run's price is rounded up once; each call has the share by which it raised it, which its hold always covers.
    const captureMillicredits = Math.ceil(charge.userCostMicroUsd / MICRO_USD_PER_MILLICREDIT) - capturedMillicredits;
    capturedMillicredits += captureMillicredits;
    charge.items.push({ key: call.key, nodeId: call.nodeId, captureMillicredits, consumeGrant: false });
  }
  return charge;
};

/** Each node with what was captured for its calls. */
const withReceipts = (nodes: readonly NodeState[], captured: readonly billingProto.HeldItem[]): NodeState[] => {
  const byNode = new Map<string, number>();
  for (const { key, millicredits } of captured) byNode.set(nodeOf(key), (byNode.get(nodeOf(key)) ?? 0) + millicredits);
  return nodes.map((node) => ({ ...node, millicredits: byNode.get(node.id) ?? 0 }));
};

const sumOf = (items: Charge["items"]): number => items.reduce((sum, item) => sum + item.captureMillicredits, 0);

/** How a run really ended: a cancellation that was accepted before the end wins, and keeps the result if there is one. */
const decidedEnd = (end: RunEnd, ending: FinalStatus): RunEnd => {
  if (ending === end.status || ending !== "cancelled") return end;
  return { ...end, status: "cancelled", error: null };
};

/** How a run stands whose end nobody saw: what was under way is given up. */
const abandonedEnd = ({ nodes, requestId }: ExecutionView, status: FinalStatus, error: RunError): RunEnd => ({
  status,
  result: null,
  error: status === "failed" ? error : null,
  requestId,
  nodes: nodes.map((node) => {
    if (node.status === "pending") return { ...node, status: "skipped" };
    if (node.status !== "processing") return node;
    const durationMs = node.startedAt === null ? null : Date.now() - node.startedAt;
    return { ...node, status: "cancelled", cancelReport: "could_not_stop", durationMs };
  }),
  completed: [],
});

type Costs = Pick<Charge, "costMicroUsd" | "userCostMicroUsd">;

/** What is known of the costs when an earlier settlement, whose reasons are unknown, has captured something. */
const costsBehind = (millicredits: number, markupPermille: number): Costs => ({
  costMicroUsd: wholesale(millicredits, markupPermille),
  userCostMicroUsd: millicredits * MICRO_USD_PER_MILLICREDIT,
});

/**
 * Ends the money of runs. What billing answers is the truth, because the first settlement of an execution is the only one:
 * the usage row and the nodes' receipts are written from its answer, so that all three always agree.
 */
export const createSettlement = ({ billing, usage, execution }: { billing: Billing; usage: Usage; execution: Execution }) => {
  type ClosingRun = Parameters<typeof runStart>[0] & Parameters<Execution["finish"]>[0];

  const close = async (run: ClosingRun, end: RunEnd, costs: Costs, settled: billingProto.SettleResponse): Promise<void> => {
    const { capturedMillicredits: millicredits, captured } = settled;
    await usage.finishRun({
      run: runStart(run),
      status: end.status,
      ...costs,
      millicredits,
      modelCredits: [],
      durationMs: Date.now() - run.receivedAt,
      errorCode: end.error?.code,
      requestId: end.requestId ?? undefined,
      unstarted: false,
    });
    const grantUsed = captured.some(({ source }) => source === billingProto.HoldSource.HOLD_SOURCE_GRANT);
    await execution.finish(run, { ...end, nodes: withReceipts(end.nodes, captured) }, { millicredits, grantUsed });
  };

  return {
    /** Captures what is owed, releases the rest and closes the rows. Idempotent by execution id. */
    settle: async (input: RunInput, seen: RunEnd, held: HeldItem[]): Promise<RunOutcome> => {
      const { markupPermille } = input.plan;
      const end = decidedEnd(seen, await execution.decideEnding(input.executionId, seen.status));
      const charge = chargeFor(end, held, markupPermille);
      const settled = await billing.settle({
        executionId: input.holdId,
        userId: input.userId,
        items: charge.items.map(({ key, captureMillicredits, consumeGrant }) => ({ key, captureMillicredits, consumeGrant })),
        captureAll: charge.captureAll,
      });
      const { capturedMillicredits: millicredits } = settled;
      const { costMicroUsd, userCostMicroUsd } = millicredits === sumOf(charge.items) ? charge : costsBehind(millicredits, markupPermille);
      await close(input, end, { costMicroUsd, userCostMicroUsd }, settled);
      return { status: end.status, millicredits };
    },

    /**
     * Ends a recorded run that nothing carries any more. It is free, unless it was cancelled: then all that it held is
     * captured, as for any cancelled run. What an earlier settlement has decided stands. Idempotent.
     */
    abandon: async (record: ExecutionView, error: RunError): Promise<FinalStatus> => {
      const { _id: executionId, userId, holdId, markupPermille, createdAt } = record;
      const wanted = record.status === "cancel_requested" ? "cancelled" : "failed";
      const status = (await execution.decideEnding(executionId, wanted)) === "cancelled" ? "cancelled" : "failed";
      const captureAll = status === "cancelled";
      const settled = await billing.settle({ executionId: holdId, userId, items: [], captureAll });
      const run = { ...record, executionId, receivedAt: createdAt.getTime() };
      await close(run, abandonedEnd(record, status, error), costsBehind(settled.capturedMillicredits, markupPermille), settled);
      return status;
    },
  };
};
