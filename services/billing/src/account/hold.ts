import { DomainError, toCredits } from "@nodeloom/kernel";
import { replyWith, findMovement, needsLedger, record, refuseWith, type Account, type CommandContext, type Transition } from "./account";
import { allocate, type Allocation, type HoldItem } from "./allocate";
import { countOn, type CountedBudgets, type Counting, type Subject } from "./budgets/budget";
import { withPendingAlerts } from "./budgets/commands";
import { reservedOf, suffices, usesOf, withReserved, type DefaultUse, type Reservation } from "./budgets/defaults";
import { inSameWindow } from "./budgets/windows";
import { tooLarge, tooManyHolds, tooManyItems } from "./capacity";
import type { ActiveHold, ClosedHold, HeldItem } from "./held";
import { byKey, movementId, type Movement } from "./movement";

export interface HoldCommand extends CommandContext {
  type: "hold";
  executionId: string;
  items: HoldItem[];
  /** Maximum concurrent executions; 0 for no limit. */
  maxActive: number;
  /** Upper bound of the hold; undefined if there is none. */
  maxMillicredits?: number;
  /** Selects the budgets that count the run; absent if no budget can count it. */
  subject?: Subject;
  /** Amount that counters of default budgets reserve for the hold. */
  reservation?: Reservation;
}

/** Reply if nothing is held because the command must be repeated with a reservation. */
export interface ReserveFirst {
  reserve: DefaultUse[];
}

export interface HoldReply {
  items: HeldItem[];
  heldMillicredits: number;
}

/** Returns how an execution was closed, from its closing row; "unknown" until the row is looked up. */
export const findClosed = (
  account: Account,
  context: CommandContext & { executionId: string },
): { closed: ClosedHold | undefined } | { ask: string[] } => {
  if (!account.hasClosed) return { closed: undefined };
  const ids = (["capture", "release"] as const).map((kind) => movementId(account.userId, kind, context.executionId));
  const rows = ids.map((id) => findMovement(account, context, id));
  const closing = rows.find((row) => row !== null && row !== "unknown" && row.closed);
  if (closing && closing !== "unknown") return { closed: closing.closed };
  return rows.includes("unknown") ? { ask: ids } : { closed: undefined };
};

/** Returns the reply of the original hold, without extensions. */
const heldReply = (all: readonly HeldItem[]): HoldReply => itemsReply(all.filter(({ extendedIn }) => extendedIn === undefined));

const itemsReply = (items: readonly HeldItem[]): HoldReply => ({
  items: items.map(({ key, model, source, millicredits, fromPlan, fromTopUp }) => ({
    key,
    model,
    source,
    millicredits,
    fromPlan,
    fromTopUp,
  })),
  heldMillicredits: items.reduce((sum, item) => sum + item.millicredits, 0),
});

const notEnough = ({ required, available, exhaustedModel }: Allocation): DomainError => {
  const metadata = { requiredCredits: toCredits(required), availableCredits: toCredits(available) };
  return exhaustedModel === undefined
    ? new DomainError("exhausted", "INSUFFICIENT_CREDITS", "not enough credits", metadata)
    : new DomainError("exhausted", "grant_exhausted", `the trial grant for ${exhaustedModel} is used up`, {
        ...metadata,
        model: exhaustedModel,
      });
};

const overLimit = ({ required }: Allocation, maxMillicredits: number): DomainError =>
  new DomainError(
    "exhausted",
    "INSUFFICIENT_CREDITS",
    `the run may cost ${toCredits(required)} credits, above its limit of ${toCredits(maxMillicredits)}`,
    { requiredCredits: toCredits(required), maxCredits: toCredits(maxMillicredits) },
  );

/** Returns one row for each model whose trial grant an execution used (-1) or returned (+1). */
export const grantMovements = (
  userId: string,
  executionId: string,
  phase: "hold" | "release" | `extend ${string}`,
  items: readonly HeldItem[],
  sign: 1 | -1,
): Movement[] => {
  const runs = new Map<string, number>();
  for (const { model } of items) runs.set(model, (runs.get(model) ?? 0) + sign);
  return [...runs].map(([model, count]) => ({
    id: movementId(userId, "grant", phase, executionId, model),
    kind: "grant",
    runs: count,
    executionId,
    model,
  }));
};

const spend = (account: Account, { plan, topUp, grants, required }: Allocation): Account => ({
  ...account,
  plan,
  topUp,
  grants,
  held: account.held + required,
});

const withBudgets = (account: Account, { budgets, alerts, counted }: Counting): Account =>
  counted ? withPendingAlerts({ ...account, budgets }, alerts) : account;

/** Returns the hold after assigning its new items to the budgets that count them. */
const withCounted = (activeHold: ActiveHold, added: readonly HeldItem[], { counted }: Counting): ActiveHold => {
  if (!counted) return activeHold;
  const all = activeHold.counted ?? [];
  const isSame = ({ at, budgets, reserved }: CountedBudgets): boolean =>
    !reserved &&
    !counted.reserved &&
    inSameWindow("day", at, counted.at) &&
    budgets.length === counted.budgets.length &&
    budgets.every((one) => counted.budgets.includes(one));
  const existingIndex = all.findIndex(isSame);
  const countedIn = existingIndex < 0 ? all.length : existingIndex;
  const concerned = new Set(added.filter(({ millicredits }) => millicredits > 0));
  const items = activeHold.items.map((item) => (concerned.has(item) ? { ...item, countedIn } : item));
  return { ...activeHold, items, counted: existingIndex < 0 ? [...all, counted] : all };
};

/** Counts a price on all budgets of a run. Default budgets come last, because a reservation is a separate write. */
const countAll = (
  account: Account,
  { userId, at, subject, reservation }: Pick<HoldCommand, "userId" | "at" | "subject" | "reservation">,
  allocation: Allocation,
): Counting | Transition<ReserveFirst> => {
  const counting = countOn(account.budgets, subject, at, allocation.required);
  if (counting instanceof DomainError) return refuseWith(account, counting);
  if (!allocation.sufficient) return refuseWith(account, notEnough(allocation));
  const uses = usesOf(account.budgets, subject, allocation.required);
  if (uses.length === 0) return counting;
  if (!reservation || !suffices(reservation, uses)) return replyWith(account, { reserve: uses });
  return { ...counting, counted: withReserved(counting.counted, at, reservedOf(userId, at, reservation)) };
};

/** Returns the rows of a hold or an extension. Their ids contain the first added call, so that each row is written once. */
const holdMovements = (
  { userId, executionId }: { userId: string; executionId: string },
  phase: "hold" | `extend ${string}`,
  { items, required }: Allocation,
): Movement[] => {
  const parts = phase === "hold" ? [] : [phase];
  const granted = items.filter((item) => item.source === "grant");
  return [
    { id: movementId(userId, "hold", executionId, ...parts), kind: "hold", movedMillicredits: required, executionId },
    ...grantMovements(userId, executionId, phase, granted, -1),
  ];
};

/**
 * Reserves the worst-case price of an execution, all or nothing. A repeated call returns the first reply, even after the execution was
 * closed. Rejected for a voided execution, too many concurrent executions, too few credits, a price above the run's limit, or an exceeded
 * budget (BUDGET_EXCEEDED).
 */
export const hold = (account: Account, command: HoldCommand): Transition<HoldReply | ReserveFirst> => {
  const { executionId, at } = command;
  const active = account.holds.find((activeHold) => activeHold.executionId === executionId);
  if (active) return replyWith(account, heldReply(active.items));
  const lookup = findClosed(account, command);
  if ("ask" in lookup) return needsLedger(account, lookup.ask);
  if (lookup.closed?.voided) {
    return refuseWith(account, new DomainError("precondition", "PRECONDITION_FAILED", "this execution was given up before it was held"));
  }
  if (lookup.closed) return replyWith(account, heldReply(lookup.closed.items));
  const capacity = tooManyHolds(account, command.maxActive) ?? tooManyItems(account, command.items.length);
  if (capacity) return refuseWith(account, capacity);
  const allocation = allocate(account, command.items);
  const { maxMillicredits } = command;
  if (maxMillicredits !== undefined && allocation.required > maxMillicredits) {
    return refuseWith(account, overLimit(allocation, maxMillicredits));
  }
  const counting = countAll(account, command, allocation);
  if ("outcome" in counting) return counting;

  const keyId = command.subject?.keyId;
  const newHold: ActiveHold = {
    executionId,
    at,
    period: account.period,
    ...(maxMillicredits === undefined ? {} : { maxMillicredits }),
    ...(keyId ? { keyId } : {}),
    items: allocation.items,
  };
  const next: Account = { ...spend(account, allocation), holds: [...account.holds, withCounted(newHold, allocation.items, counting)] };
  const large = tooLarge(account, next);
  if (large) return refuseWith(account, large);
  const movements = byKey(keyId, holdMovements(command, "hold", allocation));
  return replyWith(record(withBudgets(next, counting), at, movements), heldReply(allocation.items));
};

export interface ExtendCommand extends CommandContext {
  type: "extend";
  executionId: string;
  /** Additional calls. Calls that are already held aren't charged again. */
  items: HoldItem[];
  /** Limit of a run without a hold. An existing hold keeps its own limit. */
  maxMillicredits?: number;
  subject?: Subject;
  reservation?: Reservation;
}

/**
 * Adds calls to an execution's hold, all or nothing, once per key. Creates a hold for a run without one. An extension uses the plan credits
 * of the current month. Rejected for a closed execution (PRECONDITION_FAILED), too few credits, a price above the run's limit, or an
 * exceeded budget.
 */
export const extend = (account: Account, command: ExtendCommand): Transition<HoldReply | ReserveFirst> => {
  const { executionId, at } = command;
  const active = account.holds.find((activeHold) => activeHold.executionId === executionId);
  if (!active) {
    const lookup = findClosed(account, command);
    if ("ask" in lookup) return needsLedger(account, lookup.ask);
    if (lookup.closed) {
      return refuseWith(
        account,
        new DomainError("precondition", "PRECONDITION_FAILED", "this execution is over; its hold can't be extended"),
      );
    }
    return hold(account, { ...command, type: "hold", maxActive: 0 });
  }
  const heldKeys = new Set(active.items.map(({ key }) => key));
  const added = command.items.filter(({ key }) => !heldKeys.has(key));
  const requestedKeys = new Set(command.items.map(({ key }) => key));
  const replied = (items: readonly HeldItem[]): HoldReply => itemsReply(items.filter(({ key }) => requestedKeys.has(key)));
  if (added.length === 0) return replyWith(account, replied(active.items));
  const capacity = tooManyItems(account, added.length);
  if (capacity) return refuseWith(account, capacity);
  const allocation = allocate(account, added);
  const already = active.items.reduce((sum, item) => sum + item.millicredits, 0);
  if (active.maxMillicredits !== undefined && already + allocation.required > active.maxMillicredits) {
    return refuseWith(account, overLimit({ ...allocation, required: already + allocation.required }, active.maxMillicredits));
  }
  const counting = countAll(account, command, allocation);
  if ("outcome" in counting) return counting;
  const extended = allocation.items.map((item) => ({ ...item, extendedIn: account.period }));
  const extendedHold = withCounted({ ...active, items: [...active.items, ...extended] }, extended, counting);
  const next: Account = { ...spend(account, allocation), holds: account.holds.map((one) => (one === active ? extendedHold : one)) };
  const large = tooLarge(account, next);
  if (large) return refuseWith(account, large);
  const movements = byKey(active.keyId, holdMovements(command, `extend ${added[0]!.key}`, allocation));
  return replyWith(record(withBudgets(next, counting), at, movements), replied(extendedHold.items));
};
