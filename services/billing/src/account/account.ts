/** An account and its commands as pure functions. */

import { type DomainError } from "@nodeloom/kernel";
import type { Budget, BudgetAlert } from "./budgets/budget";
import type { ActiveHold } from "./held";
import { ledgerRow, type LedgerRow, type Movement } from "./movement";

/** Free trial runs of one model. */
export interface Grant {
  model: string;
  total: number;
  remaining: number;
}

/** Alert that credits are low. Amounts are in milli-credits. */
export interface LowCreditsAlert {
  /** Deterministic for each plan month. */
  id: string;
  at: Date;
  lowCredits: { remaining: number; monthly: number };
}

/** All billing data of one user, in one document that changes atomically. Amounts are in milli-credits. */
export interface Account {
  userId: string;
  /** Revision number; 0 for an account that isn't stored yet. Every change increases it. */
  revision: number;
  plan: number;
  /** Can be negative, after refunds of purchases whose credits were already spent. */
  topUp: number;
  /** Sum of all refunds. It is the lower bound of `topUp`. */
  paidBack: number;
  held: number;
  grants: Grant[];
  /** Models whose trial grant was given. Each grant is given once per account. */
  trials: string[];
  tier: string | null;
  /** User revision that set the tier. */
  userRevision: number;
  monthlyMillicredits: number;
  renewsAt: Date | null;
  /** Day of the month (1 to 31, UTC) on which the plan began. Shorter months renew on their last day. */
  renewalDay: number | null;
  /** Number of plan periods that have begun. Plan credits of earlier periods have expired, including those that a hold releases. */
  period: number;
  holds: ActiveHold[];
  budgets: Budget[];
  /** Number of the most recently created budget. */
  lastBudget: number;
  /** Alerts for budgets and low credits that aren't delivered yet, oldest first. */
  budgetAlerts: (BudgetAlert | LowCreditsAlert)[];
  /** Plan period of the last low-credits alert; null if there was none. */
  lowCreditsIn: number | null;
  /** True after any execution was closed. The outbox or the ledger has the details. */
  hasClosed: boolean;
  /** Sequence number of the newest ledger row. */
  sequence: number;
  /** Rows that aren't in the ledger yet, oldest first. */
  outbox: LedgerRow[];
}

/** The initial account of a user. */
export const emptyAccount = (userId: string): Account => ({
  userId,
  revision: 0,
  plan: 0,
  topUp: 0,
  paidBack: 0,
  held: 0,
  grants: [],
  trials: [],
  tier: null,
  userRevision: 0,
  monthlyMillicredits: 0,
  renewsAt: null,
  renewalDay: null,
  period: 0,
  holds: [],
  budgets: [],
  lastBudget: 0,
  budgetAlerts: [],
  lowCreditsIn: null,
  hasClosed: false,
  sequence: 0,
  outbox: [],
});

/** Input of all commands: the account, the time, and ledger rows that were looked up. */
export interface CommandContext {
  userId: string;
  at: Date;
  /** Ledger rows by id; null for a missing row. */
  ledger?: ReadonlyMap<string, LedgerRow | null>;
}

/** `needsLedger`: the outcome depends on ledger rows that the account no longer has. Look them up and apply the command again. */
export type Outcome<R> = { kind: "done"; reply: R } | { kind: "refused"; error: DomainError } | { kind: "needsLedger"; ids: string[] };

export interface Transition<R> {
  /** The next account; the identical object if nothing changed. */
  account: Account;
  outcome: Outcome<R>;
}

export const replyWith = <R>(account: Account, reply: R): Transition<R> => ({ account, outcome: { kind: "done", reply } });
export const refuseWith = (account: Account, error: DomainError): Transition<never> => ({ account, outcome: { kind: "refused", error } });
export const needsLedger = (account: Account, ids: string[]): Transition<never> => ({ account, outcome: { kind: "needsLedger", ids } });

/** Returns the row of a movement, or null if there is none. Returns "unknown" until the row is looked up in the ledger. */
export const findMovement = (account: Account, context: CommandContext, id: string): LedgerRow | null | "unknown" => {
  const waiting = account.outbox.find((row) => row.id === id);
  if (waiting) return waiting;
  const stored = context.ledger?.get(id);
  return stored === undefined ? "unknown" : stored;
};

export const record = (account: Account, at: Date, movements: Movement[]): Account => ({
  ...account,
  sequence: account.sequence + movements.length,
  outbox: [...account.outbox, ...movements.map((movement, index) => ledgerRow(movement, account.userId, account.sequence + index + 1, at))],
});
