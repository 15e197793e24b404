/** account/: what an account is and what each command makes of it, as pure functions. */

import { type DomainError } from "@nodeloom/kernel";
import type { Budget, BudgetAlert } from "./budgets/budget";
import type { ActiveHold } from "./held";
import { ledgerRow, type LedgerRow, type Movement } from "./movement";

/** A trial grant: free runs of one model. */
export interface Grant {
  model: string;
  total: number;
  remaining: number;
}

/** That credits have become low. Amounts are milli-credits. */
export interface LowCreditsAlert {
  /** The same for the same month of the plan. */
  id: string;
  at: Date;
  lowCredits: { remaining: number; monthly: number };
}

/** Everything billing knows of one user; one document, changed as a whole. Amounts are milli-credits. */
export interface Account {
  userId: string;
  /** 0 for an account that isn't stored yet; one more with every change. */
  revision: number;
  plan: number;
  /** Below zero as far as purchases were paid back whose credits are spent. */
  topUp: number;
  /** What of purchases was paid back in all: the most that `topUp` may be below zero. */
  paidBack: number;
  held: number;
  grants: Grant[];
  /** Models whose trial grant was given; it is given once in an account's life. */
  trials: string[];
  tier: string | null;
  /** Of the user, when it had this tier. */
  userRevision: number;
  monthlyMillicredits: number;
  renewsAt: Date | null;
  /** The day of the month (1 to 31, UTC) on which the plan began: months that have it renew on it, shorter ones on their last. */
  renewalDay: number | null;
  /** Plan periods begun so far. Plan credits of an earlier one are gone, also those that a hold gives back. */
  period: number;
  holds: ActiveHold[];
  budgets: Budget[];
  /** The number of the newest budget that there ever was. */
  lastBudget: number;
  /** Alerts that were not passed on yet, oldest first: of budgets, and that credits are low. */
  budgetAlerts: (BudgetAlert | LowCreditsAlert)[];
  /** The plan period in which low credits were announced last; null for never. */
  lowCreditsIn: number | null;
  /** Whether executions were ever closed here. How each was, the outbox or the ledger says. */
  hasClosed: boolean;
  /** Ledger rows ever written: the sequence number of the newest. */
  sequence: number;
  /** Rows on their way to the ledger, oldest first. */
  outbox: LedgerRow[];
}

/** The account of a user that billing has never heard of. */
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

/** What every command carries: whose account, when, and what the ledger said about ids the account had to ask for. */
export interface CommandContext {
  userId: string;
  at: Date;
  /** Looked-up rows by id; null for "no such row". */
  ledger?: ReadonlyMap<string, LedgerRow | null>;
}

/** What came of a command. `needsLedger`: it depends on ledger rows that the account no longer carries; look them up and apply again. */
export type Outcome<R> = { kind: "done"; reply: R } | { kind: "refused"; error: DomainError } | { kind: "needsLedger"; ids: string[] };

export interface Transition<R> {
  /** The very same object when nothing changed. */
  account: Account;
  outcome: Outcome<R>;
}

export const done = <R>(account: Account, reply: R): Transition<R> => ({ account, outcome: { kind: "done", reply } });
export const refused = (account: Account, error: DomainError): Transition<never> => ({ account, outcome: { kind: "refused", error } });
export const needsLedger = (account: Account, ids: string[]): Transition<never> => ({ account, outcome: { kind: "needsLedger", ids } });

/** Whether a movement was made: its row, null, or "unknown" until the ledger is asked. */
export const findMovement = (account: Account, context: CommandContext, id: string): LedgerRow | null | "unknown" => {
  const waiting = account.outbox.find((row) => row.id === id);
  if (waiting) return waiting;
  const known = context.ledger?.get(id);
  return known === undefined ? "unknown" : known;
};

/** Adds rows to the account's outbox. */
export const record = (account: Account, at: Date, movements: Movement[]): Account => ({
  ...account,
  sequence: account.sequence + movements.length,
  outbox: [...account.outbox, ...movements.map((movement, index) => ledgerRow(movement, account.userId, account.sequence + index + 1, at))],
});
