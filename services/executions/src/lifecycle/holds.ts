import { type HoldItem, calledKey } from "@nodeloom/kernel";
import { billing as billingProto } from "@nodeloom/proto";
import type { Billing } from "../clients";
import type { HeldItem, RunInput, CompletedCall, NodeState, RunEnd } from "../run/types";
import { TIMING } from "../run/timing";
import type { Stores } from "../record/stores";
import { isCharged } from "../run/call-record";
import { chargeFor, costsBehind, nodeOf, sumOf, type Charge } from "../run/charge";
import { hasReceivers } from "../run/delivery";
import type { RunCharge, ExecutionView } from "../run/record";

/** Returns the hold items to charge. Each alternative call keeps its own price, although the hold covers only one of them. */
const heldItems = (items: readonly billingProto.HeldItem[], wantedHolds: readonly HoldItem[]): HeldItem[] => {
  const prices = new Map(wantedHolds.map(({ key, maxMillicredits }) => [key, maxMillicredits]));
  return items.map(({ key, source, millicredits }) =>
    source === billingProto.HoldSource.HOLD_SOURCE_GRANT
      ? { key, source: "grant", millicredits }
      : { key, source: "credits", millicredits: prices.get(key) ?? millicredits },
  );
};

/** Returns the credits that were held at the start. The hold covers the most expensive of alternative calls. */
export const estimateOf = ({ holds, held }: Pick<RunInput, "holds" | "held">): number => {
  const groups = new Map(holds.map(({ key, alternativeTo }) => [key, alternativeTo ?? key]));
  const most = new Map<string, number>();
  for (const { key, source, millicredits } of held) {
    const group = groups.get(key) ?? key;
    if (source === "credits") most.set(group, Math.max(most.get(group) ?? 0, millicredits));
  }
  return [...most.values()].reduce((sum, millicredits) => sum + millicredits, 0);
};

const paidItems = (items: readonly HoldItem[]): Required<HoldItem>[] =>
  items.filter(({ maxMillicredits }) => maxMillicredits > 0).map((item) => ({ alternativeTo: "", ...item }));

/** Members of a run that select the budgets that count it. */
type Attribution = Partial<Pick<RunInput, "keyId" | "workflowSlug" | "metadata">>;

const subjectOf = ({ keyId, workflowSlug, metadata }: Attribution): billingProto.BudgetSubject => ({
  keyId: keyId ?? "",
  workflowSlug: workflowSlug ?? "",
  metadata: metadata ?? {},
});

export type Holds = ReturnType<typeof createHolds>;

/** Holds credits for runs in billing. Each call is idempotent per attempt. */
export const createHolds = ({ billing }: { billing: Pick<Billing, "hold" | "extendHold" | "settle"> }) => ({
  /** @throws DomainError if the credits can't be held; SERVICE_UNAVAILABLE if billing can't be reached */
  hold: async (input: RunInput): Promise<HeldItem[]> => {
    const { holdId, userId, maxMillicredits } = input;
    const paidHolds = paidItems(input.holds);
    if (paidHolds.length === 0) return [];
    const { items } = await billing.hold(
      { executionId: holdId, userId, items: paidHolds, maxActive: 0, maxMillicredits, subject: subjectOf(input) },
      { deadlineMs: TIMING.holdCall },
    );
    return heldItems(items, paidHolds);
  },

  /**
   * Extends a hold by calls that a run needs in addition to its plan. @throws DomainError INSUFFICIENT_CREDITS, grant_exhausted,
   * BUDGET_EXCEEDED
   */
  extend: async (
    input: Pick<RunInput, "holdId" | "userId" | "maxMillicredits"> & Attribution,
    items: readonly HoldItem[],
  ): Promise<HeldItem[]> => {
    const paidHolds = paidItems(items);
    if (paidHolds.length === 0) return [];
    const { holdId, userId, maxMillicredits } = input;
    const request = { executionId: holdId, userId, items: paidHolds, maxMillicredits, subject: subjectOf(input) };
    const extension = await billing.extendHold(request, { deadlineMs: TIMING.holdCall });
    return heldItems(extension.items, paidHolds);
  },

  /** Voids the hold of an attempt, including a hold that is still being created. */
  void: async (holdId: string, userId: string): Promise<void> => {
    await billing.settle({ executionId: holdId, userId, items: [], captureAll: false });
  },
});

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
