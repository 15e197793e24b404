import { calledKey } from "@nodeloom/kernel";
import { billing as billingProto } from "@nodeloom/proto";
import type { Billing } from "../clients";
import type { Stores } from "../record/stores";
import { isCharged } from "../run/call-record";
import { chargeFor, costsBehind, nodeOf, sumOf, type Charge } from "../run/charge";
import { hasReceivers } from "../run/delivery";
import type { RunCharge, ExecutionView } from "../run/record";
import type { CompletedCall, HeldItem, NodeState, RunEnd, RunInput } from "../run/types";
import { estimateOf } from "./holds";

const creditsBy = (captured: readonly billingProto.HeldItem[], ownerOf: (item: billingProto.HeldItem) => string): Map<string, number> => {
  const sums = new Map<string, number>();
  for (const item of captured) sums.set(ownerOf(item), (sums.get(ownerOf(item)) ?? 0) + item.millicredits);
  return sums;
};

const NOTHING: billingProto.SettleResponse = { capturedMillicredits: 0, releasedMillicredits: 0, captured: [] };

/** Members of a run that are needed to charge and end it. */
export interface FinishedRun extends Pick<
  RunInput,
  "executionId" | "userId" | "holdId" | "attempt" | "receivedAt" | "modelIds" | "retentionDays"
> {
  markupPermille: number;
  /** One entry per call; null if unknown. */
  held: readonly HeldItem[] | null;
  /** True if a webhook or an endpoint is notified of the end of the run. */
  isSent: boolean;
  isItem: boolean;
  /** True if an alias's canary counts the run. */
  isCompared: boolean;
  /** Used to rebuild the row if it is missing. */
  input?: RunInput;
}

export const finishedRun = (input: RunInput, { extended = [] }: RunEnd): FinishedRun => ({
  ...input,
  markupPermille: input.plan.markupPermille,
  held: [...input.held, ...extended],
  isSent: hasReceivers(input),
  isItem: input.batch !== undefined,
  isCompared: input.canary !== undefined,
  input,
});

export const abandoned = (row: ExecutionView): FinishedRun => ({
  ...row,
  executionId: row._id,
  receivedAt: row.createdAt.getTime(),
  held: null,
  isSent: hasReceivers(row),
  isItem: row.batchId !== undefined,
  isCompared: row.canary !== undefined,
});

/** Charges runs that end. */
export const createCharging = (billing: Pick<Billing, "settle">, calls: Stores["calls"]) => {
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
  const chargeOf = async (run: FinishedRun, end: RunEnd): Promise<{ charged: RunCharge; nodes: NodeState[] }> => {
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
    const charged: RunCharge = {
      millicredits,
      grantUsed: captured.some(({ source }) => source === billingProto.HoldSource.HOLD_SOURCE_GRANT),
      costs: { costMicroUsd, userCostMicroUsd: behind.userCostMicroUsd },
      modelCredits: [...creditsBy(captured, ({ model }) => model)].map(([model, credits]) => ({ model, millicredits: credits })),
      ...(run.input && run.input.held.length > 0 ? { estimatedMillicredits: estimateOf(run.input) } : {}),
    };
    return { charged, nodes: end.nodes.map((node) => ({ ...node, millicredits: byNode.get(node.id) ?? 0 })) };
  };

  return { recordedCalls, chargeOf };
};
