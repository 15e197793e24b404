import { DomainError, invalidRequest } from "@nodeloom/kernel";
import {
  replyWith,
  findMovement,
  needsLedger,
  record,
  refuseWith,
  type Account,
  type CommandContext,
  type Grant,
  type Transition,
} from "./account";
import { BILLING_LIMITS } from "../limits";
import { movementId, referencedId, type Movement, type MovementKind } from "./movement";

export interface SetPlanCommand extends CommandContext {
  type: "setPlan";
  tier: string;
  monthlyMillicredits: number;
  trials: { model: string; runs: number }[];
  reference: string;
  /** True to do nothing if the account already has this tier and these plan credits. */
  unlessSet?: boolean;
  /** User revision that set the tier. */
  userRevision?: number;
}

/** Renews an ended month and does nothing else. Every command renews first. */
export interface RenewCommand extends CommandContext {
  type: "renew";
}

export interface SetMonthlyCreditsCommand extends CommandContext {
  type: "setMonthlyCredits";
  tier: string;
  monthlyMillicredits: number;
}

export interface CreditCommand extends CommandContext {
  type: "credit";
  credit:
    | { kind: "topup" | "plan" | "adjust"; millicredits: number }
    /** Number of runs in a model's trial grant. */
    | { kind: "grant"; model: string; runs: number };
  note: string;
  reference: string;
}

/** Returns the given day (1 to 31) of the next month at the same UTC time. If the month is shorter, returns its last day. */
export const oneMonthAfter = (date: Date, day = date.getUTCDate()): Date => {
  const next = new Date(date);
  // Set the first day before the month, because the 31st would overflow a shorter month.
  next.setUTCDate(1);
  next.setUTCMonth(next.getUTCMonth() + 2, 0);
  next.setUTCDate(Math.min(day, next.getUTCDate()));
  return next;
};

const withGrant = (grants: readonly Grant[], model: string, runs: number): Grant[] =>
  grants.some((grant) => grant.model === model)
    ? grants.map((grant) => (grant.model === model ? { ...grant, total: grant.total + runs, remaining: grant.remaining + runs } : grant))
    : [...grants, { model, total: runs, remaining: runs }];

/** Replaces the remaining plan credits with those of a new month. `cause` distinguishes the rows of different renewals. */
const startMonth = (account: Account, monthly: number, at: Date, cause: string[], note: string): Account => {
  const { userId, plan } = account;
  const expiry: Movement = { id: movementId(userId, "plan_expiry", ...cause), kind: "plan_expiry", millicredits: -plan, note };
  const renewal: Movement = { id: movementId(userId, "plan_renewal", ...cause), kind: "plan_renewal", millicredits: monthly, note };
  const next = { ...account, plan: monthly, monthlyMillicredits: monthly, period: account.period + 1 };
  return record(next, at, plan > 0 ? [expiry, renewal] : [renewal]);
};

/** Renews the account if its month has ended at the given time. */
export const renewIfDue = (account: Account, at: Date): Account => {
  const due = account.renewsAt;
  if (!due || at < due) return account;
  let renewsAt = due;
  const day = account.renewalDay ?? undefined;
  while (renewsAt <= at) renewsAt = oneMonthAfter(renewsAt, day);
  return { ...startMonth(account, account.monthlyMillicredits, at, ["due", due.toISOString()], account.tier ?? ""), renewsAt };
};

export const renew = (account: Account): Transition<Account> => replyWith(account, account);

const giveTrials = (account: Account, command: SetPlanCommand): Account => {
  const fresh = command.trials.filter(({ model, runs }) => runs > 0 && !account.trials.includes(model));
  if (fresh.length === 0) return account;
  const next = {
    ...account,
    trials: [...account.trials, ...fresh.map(({ model }) => model)],
    grants: fresh.reduce((grants, { model, runs }) => withGrant(grants, model, runs), account.grants),
  };
  const rows = fresh.map(({ model, runs }): Movement => ({
    id: movementId(account.userId, "grant", "trial", model),
    kind: "grant",
    runs,
    model,
  }));
  return record(next, command.at, rows);
};

const olderUser = (): DomainError =>
  new DomainError("precondition", "PRECONDITION_FAILED", "the account has a tier of a later revision of the user already");

/**
 * Sets the account's tier: plan credits for a month from now, and new trial grants. Idempotent by reference. A tier of an earlier user
 * revision is rejected, so that account and user agree even if changes arrive out of order.
 */
export const setPlan = (current: Account, command: SetPlanCommand): Transition<Account> => {
  const { userRevision = 0 } = command;
  if (userRevision > 0 && userRevision < current.userRevision) return refuseWith(current, olderUser());
  const account = userRevision > current.userRevision ? { ...current, userRevision } : current;
  const { tier, monthlyMillicredits } = account;
  if (command.unlessSet && account.renewsAt && tier === command.tier && monthlyMillicredits === command.monthlyMillicredits) {
    const next = giveTrials(account, command);
    return replyWith(next, next);
  }
  const cause = ["set", command.reference];
  const id = movementId(account.userId, "plan_renewal", ...cause);
  const applied = findMovement(account, command, id);
  if (applied === "unknown") return needsLedger(account, [id]);
  if (applied) return replyWith(account, account);
  const renewed = startMonth(account, command.monthlyMillicredits, command.at, cause, command.tier);
  const months = { renewsAt: oneMonthAfter(command.at), renewalDay: command.at.getUTCDate() };
  const next = giveTrials({ ...renewed, tier: command.tier, ...months }, command);
  return replyWith(next, next);
};

/**
 * Changes the plan credits from the next renewal on, if the account has the changed tier. An account without plan credits doesn't get any.
 */
export const setMonthlyCredits = (account: Account, command: SetMonthlyCreditsCommand): Transition<Account> => {
  const { tier, monthlyMillicredits } = command;
  const concerned = account.tier === tier && account.monthlyMillicredits > 0 && account.monthlyMillicredits !== monthlyMillicredits;
  const next = concerned ? { ...account, monthlyMillicredits } : account;
  return replyWith(next, next);
};

const CREDIT_MOVEMENT = { topup: "topup", plan: "plan_renewal", adjust: "adjust", grant: "grant" } as const satisfies Record<
  CreditCommand["credit"]["kind"],
  MovementKind
>;

/** Returns the balances after an administrator's movement. A negative adjustment takes plan credits first. */
const credited = (account: Account, { credit }: CreditCommand): Account => {
  switch (credit.kind) {
    case "grant":
      return { ...account, grants: withGrant(account.grants, credit.model, credit.runs) };
    case "plan":
      return { ...account, plan: account.plan + credit.millicredits };
    case "topup":
    case "adjust": {
      const fromPlan = Math.min(account.plan, Math.max(0, -credit.millicredits));
      return { ...account, plan: account.plan - fromPlan, topUp: account.topUp + credit.millicredits + fromPlan };
    }
  }
};

/** Books an administrator's movement. Idempotent by reference. It can't make the balance negative. */
export const credit = (account: Account, command: CreditCommand): Transition<Account> => {
  const { credit: change, userId } = command;
  const kind = CREDIT_MOVEMENT[change.kind];
  const id = referencedId(userId, command.reference);
  const amounts = change.kind === "grant" ? { runs: change.runs, model: change.model } : { millicredits: change.millicredits };
  const movement = { kind, ...amounts };
  const applied = findMovement(account, command, id);
  if (applied === "unknown") return needsLedger(account, [id]);
  if (applied) {
    const same = Object.entries(movement).every(([name, value]) => applied[name as keyof typeof applied] === value);
    return same
      ? replyWith(account, account)
      : refuseWith(account, new DomainError("conflict", "IDEMPOTENCY_KEY_REUSED", "this reference names another movement"));
  }
  const balanced = credited(account, command);
  // A refund may have made the balance negative. In that case only additions are booked.
  if (balanced.topUp < Math.min(0, account.topUp))
    return refuseWith(account, invalidRequest([{ path: "amount", message: "would leave a balance below zero" }]));
  if (balanced.plan + balanced.topUp + balanced.held > BILLING_LIMITS.balanceMillicredits) {
    return refuseWith(account, invalidRequest([{ path: "amount", message: "would leave too large a balance" }]));
  }
  const next = record(balanced, command.at, [{ id, ...movement, ...(command.note ? { note: command.note } : {}) }]);
  return replyWith(next, next);
};
