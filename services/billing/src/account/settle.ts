import { replyWith, needsLedger, record, type Account, type CommandContext, type Transition } from "./account";
import { giveBackTo } from "./budgets/budget";
import type { SettledReservation } from "./budgets/defaults";
import { groupOf, type ActiveHold, type ClosedHold, type ClosedItem, type HeldItem } from "./held";
import { findClosed, grantMovements } from "./hold";
import { withLowCredits } from "./low-credits";
import { byKey, movementId, type Movement } from "./movement";

export interface SettleItem {
  key: string;
  captureMillicredits: number;
  consumeGrant: boolean;
}

export interface SettleCommand extends CommandContext {
  type: "settle";
  executionId: string;
  /** Items to capture. Missing items are released; keys without a hold are ignored. */
  items: SettleItem[];
  /** Captures the whole hold, including grants. */
  captureAll: boolean;
}

export interface SettleReply {
  capturedMillicredits: number;
  releasedMillicredits: number;
  /** Captured items; `millicredits` is the captured price. */
  captured: HeldItem[];
}

/** @param allowed maximum capture in milli-credits */
const closeItem = (
  { countedIn: _, ...item }: HeldItem,
  allowed: number,
  settlement: SettleItem | undefined,
  captureAll: boolean,
): ClosedItem => {
  if (item.source === "grant") {
    const used = captureAll || (settlement !== undefined && (settlement.consumeGrant || settlement.captureMillicredits > 0));
    return { ...item, captured: 0, consumed: used };
  }
  const captured = captureAll ? item.millicredits : Math.min(allowed, settlement?.captureMillicredits ?? 0);
  return { ...item, captured, consumed: false };
};

/** Maximum capture of a call in milli-credits, and the item that holds it. */
interface Allowance {
  most: number;
  heldFor: HeldItem;
}

/** Returns the maximum captures. The alternative that ran uses the shared hold. */
const allowances = (items: readonly HeldItem[], isMade: (key: string) => boolean): ReadonlyMap<HeldItem, Allowance> => {
  // Items are grouped by month, because each month has its own plan credits.
  const places = (item: HeldItem): string => `${item.extendedIn ?? ""} ${groupOf(item)}`;
  const holders = new Map(items.filter(({ millicredits }) => millicredits > 0).map((item) => [places(item), item]));
  const allowed = new Map(items.map((item): [HeldItem, Allowance] => [item, { most: item.millicredits, heldFor: item }]));
  for (const item of items) {
    const holder = holders.get(places(item));
    if (!holder || holder === item || item.source === "grant" || isMade(holder.key) || !isMade(item.key)) continue;
    allowed.set(item, allowed.get(holder)!).set(holder, { most: 0, heldFor: holder });
  }
  return allowed;
};

const capturedOf = (items: readonly ClosedItem[]): number => items.reduce((sum, item) => sum + item.captured, 0);
const planOf = (items: readonly HeldItem[]): number => items.reduce((sum, item) => sum + item.fromPlan, 0);
const heldOf = (items: readonly HeldItem[]): number => items.reduce((sum, item) => sum + item.millicredits, 0);

const settledReply = ({ items }: ClosedHold): SettleReply => {
  let planLeft = planOf(items);
  const captured = items
    .filter((item) => item.captured > 0 || item.consumed)
    .map(({ key, model, source, captured: millicredits }): HeldItem => {
      const fromPlan = Math.min(planLeft, millicredits);
      planLeft -= fromPlan;
      return { key, model, source, millicredits, fromPlan, fromTopUp: millicredits - fromPlan };
    });
  const capturedMillicredits = capturedOf(items);
  return { capturedMillicredits, releasedMillicredits: heldOf(items) - capturedMillicredits, captured };
};

/** Returns the rows that close an execution: at least one, and the first one records the outcome. */
const closingMovements = (userId: string, closed: ClosedHold, settled: SettledReservation[]): Movement[] => {
  const { executionId, items, voided } = closed;
  const captured = capturedOf(items);
  const released = heldOf(items) - captured;
  const movements: Movement[] = [];
  if (captured > 0 || items.some((item) => item.consumed)) {
    movements.push({ id: movementId(userId, "capture", executionId), kind: "capture", millicredits: 0 - captured, executionId });
  }
  if (released > 0 || movements.length === 0) {
    const id = movementId(userId, "release", executionId);
    movements.push({ id, kind: "release", movedMillicredits: released, executionId, ...(voided ? { note: "never held" } : {}) });
  }
  movements[0]!.closed = closed;
  if (settled.length > 0) movements[0]!.settled = settled;
  return movements;
};

/** Returns the unused plan credits of a hold. Captures use plan credits first, even if they were held for another call. */
const unusedPlan = (items: readonly ClosedItem[]): number => Math.max(0, planOf(items) - capturedOf(items));

/**
 * Returns unused plan credits whose month has ended. An extension can hold credits of a later month than its run; captures use the oldest
 * credits first.
 */
const expiredPlan = (items: readonly ClosedItem[], heldIn: number, now: number): number => {
  const old = planOf(items.filter((item) => (item.extendedIn ?? heldIn) !== now));
  return Math.max(0, old - capturedOf(items));
};

/** Returns unused credits to the balances they came from. Plan credits of an ended month expire, because a hold must not prolong them. */
const giveBack = (account: Account, items: readonly ClosedItem[], expired: number): Pick<Account, "plan" | "topUp" | "grants"> => {
  const unused = heldOf(items) - capturedOf(items);
  const plan = account.plan + unusedPlan(items) - expired;
  const topUp = account.topUp + unused - unusedPlan(items);
  const returned = new Map<string, number>();
  for (const { source, consumed, model } of items) {
    if (source === "grant" && !consumed) returned.set(model, (returned.get(model) ?? 0) + 1);
  }
  const grants = account.grants.map((grant) => ({ ...grant, remaining: grant.remaining + (returned.get(grant.model) ?? 0) }));
  return { plan, topUp, grants };
};

/** Returns unused amounts to the budgets that counted them, and settles reservations. */
const settleBudgets = (
  budgets: Account["budgets"],
  { counted = [], items: heldItems }: ActiveHold,
  closed: readonly ClosedItem[],
  allowed: ReadonlyMap<HeldItem, Allowance>,
): { budgets: Account["budgets"]; settled: SettledReservation[] } => {
  const captured = counted.map((_, place) =>
    capturedOf(closed.filter((_item, index) => allowed.get(heldItems[index]!)!.heldFor.countedIn === place)),
  );
  return {
    budgets: counted.reduce(
      (current, one, place) =>
        giveBackTo(current, one, heldOf(heldItems.filter(({ countedIn }) => countedIn === place)) - captured[place]!),
      budgets,
    ),
    settled: counted.flatMap(({ reserved }, place) => (reserved ? [{ ...reserved, captured: captured[place]! }] : [])),
  };
};

/**
 * Captures the charges of an execution and releases the rest of its hold. A repeated call returns the first reply. An execution without a
 * hold is closed as voided, so that a late hold is rejected.
 */
export const settle = (account: Account, command: SettleCommand): Transition<SettleReply> => {
  const { executionId, userId, at } = command;
  const active = account.holds.find((hold) => hold.executionId === executionId);
  if (!active) {
    const lookup = findClosed(account, command);
    if ("ask" in lookup) return needsLedger(account, lookup.ask);
    if (lookup.closed) return replyWith(account, settledReply(lookup.closed));
  }
  const settlements = new Map(command.items.map((item) => [item.key, item]));
  const heldItems = active?.items ?? [];
  const allowed = allowances(heldItems, (key) => !command.captureAll && settlements.has(key));
  const items = heldItems.map((item) => closeItem(item, allowed.get(item)!.most, settlements.get(item.key), command.captureAll));
  const closed: ClosedHold = { executionId, voided: !active, items };
  const expired = expiredPlan(items, active?.period ?? 0, account.period);
  const { budgets, settled } = active ? settleBudgets(account.budgets, active, items, allowed) : { budgets: account.budgets, settled: [] };
  const next: Account = {
    ...account,
    ...giveBack(account, items, expired),
    held: account.held - heldOf(items),
    holds: account.holds.filter((hold) => hold !== active),
    budgets,
    hasClosed: true,
  };
  const unused = items.filter((item) => item.source === "grant" && !item.consumed);
  const expiry: Movement = {
    id: movementId(userId, "plan_expiry", "held", executionId),
    kind: "plan_expiry",
    millicredits: -expired,
    executionId,
    note: "its month ended while it was held",
  };
  const movements = [
    ...closingMovements(userId, closed, settled),
    ...(expired > 0 ? [expiry] : []),
    ...grantMovements(userId, executionId, "release", unused, 1),
  ];
  return replyWith(record(withLowCredits(next, at), at, byKey(active?.keyId, movements)), settledReply(closed));
};
