import { DomainError, toCredits } from "@nodeloom/kernel";
import {
  done,
  findMovement,
  recall,
  record,
  refused,
  type Account,
  type ClosedHold,
  type CommandContext,
  type Grant,
  type HeldItem,
  type Transition,
} from "./account";
import { BILLING_LIMITS } from "./limits";
import { movementId, type Movement } from "./movement";

const RETRY_AFTER_SECONDS = 1;

export interface HoldItem {
  key: string;
  model: string;
  maxMillicredits: number;
}

export interface HoldCommand extends CommandContext {
  type: "hold";
  executionId: string;
  items: HoldItem[];
  /** Executions that may be held at once; 0 means any number. */
  maxActive: number;
  /** The most that may be held; undefined means as much as there is. */
  maxMillicredits?: number;
}

export interface HoldReply {
  items: HeldItem[];
  heldMillicredits: number;
}

/** How a hold would be paid. */
export interface Allocation {
  items: HeldItem[];
  plan: number;
  topUp: number;
  grants: Grant[];
  required: number;
  available: number;
  sufficient: boolean;
  /** A model that must be paid with credits because its trial grant is used up. */
  exhaustedModel?: string;
}

/** Pays each item by trial grant, then plan credits, then top-up credits. Changes nothing. */
export const allocate = (account: Account, wanted: readonly HoldItem[]): Allocation => {
  const grants = new Map(account.grants.map((grant) => [grant.model, { ...grant }]));
  let { plan, topUp } = account;
  let required = 0;
  let exhaustedModel: string | undefined;
  const items = wanted.map(({ key, model, maxMillicredits }): HeldItem => {
    const grant = grants.get(model);
    if (grant && grant.remaining > 0 && maxMillicredits > 0) {
      grant.remaining -= 1;
      return { key, model, source: "grant", millicredits: 0, fromPlan: 0, fromTopUp: 0 };
    }
    if (grant && grant.total > 0 && maxMillicredits > 0) exhaustedModel ??= model;
    const fromPlan = Math.min(plan, maxMillicredits);
    const fromTopUp = maxMillicredits - fromPlan;
    plan -= fromPlan;
    topUp -= fromTopUp;
    required += maxMillicredits;
    return { key, model, source: "credits", millicredits: maxMillicredits, fromPlan, fromTopUp };
  });
  const available = account.plan + account.topUp;
  return { items, plan, topUp, grants: [...grants.values()], required, available, sufficient: required <= available, exhaustedModel };
};

/** How an execution was closed: from the account, else from the ledger; "unknown" ids must be looked up first. */
export const findClosed = (
  account: Account,
  context: CommandContext & { executionId: string },
): { closed: ClosedHold | undefined } | { ask: string[] } => {
  const recent = account.closed.find((closed) => closed.executionId === context.executionId);
  if (recent || !account.closedTrimmed) return { closed: recent };
  const ids = (["capture", "release"] as const).map((kind) => movementId(account.userId, kind, context.executionId));
  const rows = ids.map((id) => findMovement(account, context, id));
  const closing = rows.find((row) => row !== null && row !== "unknown" && row.closed);
  if (closing && closing !== "unknown") return { closed: closing.closed };
  return rows.includes("unknown") ? { ask: ids } : { closed: undefined };
};

/** The answer to a hold: of a closed one, too, only what it said when it was held. */
const heldReply = (items: readonly HeldItem[]): HoldReply => ({
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

const tooManyActive = (limit: number): DomainError =>
  new DomainError("exhausted", "CONCURRENCY_LIMIT_EXCEEDED", `no more than ${limit} executions may run at once`, {
    limit,
    retryAfter: RETRY_AFTER_SECONDS,
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

const overBudget = ({ required }: Allocation, maxMillicredits: number): DomainError =>
  new DomainError(
    "exhausted",
    "INSUFFICIENT_CREDITS",
    `the run may cost ${toCredits(required)} credits, above its limit of ${toCredits(maxMillicredits)}`,
    { requiredCredits: toCredits(required), maxCredits: toCredits(maxMillicredits) },
  );

const atCapacity = (account: Account, command: HoldCommand): DomainError | undefined => {
  const active = account.holds.length;
  if (command.maxActive > 0 && active >= command.maxActive) return tooManyActive(command.maxActive);
  const activeItems = account.holds.reduce((sum, held) => sum + held.items.length, 0);
  return active > 0 && activeItems + command.items.length > BILLING_LIMITS.activeItems ? tooManyActive(active) : undefined;
};

/** Rows for runs of trial grants that an execution took (-1) or got back (+1), one for each model. */
export const grantMovements = (
  userId: string,
  executionId: string,
  phase: "hold" | "release",
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

/**
 * Reserves the worst-case price of one execution, all or nothing. The answer to a repeated call is the first one, even
 * after the execution was closed. Refused: a voided execution, too many active ones, too few credits, more than it may cost.
 */
export const hold = (account: Account, command: HoldCommand): Transition<HoldReply> => {
  const { executionId, userId, at } = command;
  const active = account.holds.find((held) => held.executionId === executionId);
  if (active) return done(account, heldReply(active.items));
  const found = findClosed(account, command);
  if ("ask" in found) return recall(account, found.ask);
  if (found.closed?.voided) {
    return refused(account, new DomainError("precondition", "PRECONDITION_FAILED", "this execution was given up before it was held"));
  }
  if (found.closed) return done(account, heldReply(found.closed.items));
  const capacity = atCapacity(account, command);
  if (capacity) return refused(account, capacity);
  const allocation = allocate(account, command.items);
  const { maxMillicredits } = command;
  if (maxMillicredits !== undefined && allocation.required > maxMillicredits) {
    return refused(account, overBudget(allocation, maxMillicredits));
  }
  if (!allocation.sufficient) return refused(account, notEnough(allocation));

  const { items, plan, topUp, grants, required } = allocation;
  const next: Account = {
    ...account,
    plan,
    topUp,
    grants,
    held: account.held + required,
    holds: [...account.holds, { executionId, at, period: account.period, items }],
  };
  const granted = items.filter((item) => item.source === "grant");
  const moved: Movement = { id: movementId(userId, "hold", executionId), kind: "hold", movedMillicredits: required, executionId };
  return done(record(next, at, [moved, ...grantMovements(userId, executionId, "hold", granted, -1)]), heldReply(items));
};
