import type { HoldItem } from "@nodeloom/kernel";
import { billing as billingProto } from "@nodeloom/proto";
import type { Billing } from "../clients";
import type { HeldItem, RunInput } from "../run/types";
import { TIMING } from "../run/timing";

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
