/** Compares accounts with the totals of their ledger rows. */

import type { Account } from "../account/account";
import type { RowTotal } from "../audit-store";

/**
 * Kinds of differences between an account and its ledger. `balance`: available plus held credits. `held`: credits on hold. `holds`: the sum
 * of active holds. `grant`: remaining trial runs of a model. `rows`: number of rows. `amount`: not an integer, or negative (for top-up
 * credits: lower than minus all refunds). `account`: rows without an account. `budget`: usage below the counts of open holds (summed over
 * budgets). `checkpoint`: a checkpoint differs from its rows (compared by balance).
 */
export type Check = "balance" | "held" | "holds" | "grant" | "rows" | "amount" | "account" | "budget" | "checkpoint";

export interface LedgerMismatch {
  userId: string;
  what: Check;
  /** Milli-credits, runs or rows, computed from the ledger. */
  expected: number;
  /** The account's value. */
  actual: number;
  model?: string;
  ledgerMillicredits: number;
  accountMillicredits: number;
}

export interface RecomputedAccount {
  balance: number;
  held: number;
  rows: number;
  runs: Map<string, number>;
}

export const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);

const addRows = (to: RecomputedAccount, rows: RowTotal): void => {
  to.rows += rows.rows;
  to.balance += rows.millicredits;
  if (rows.kind === "hold") to.held += rows.movedMillicredits;
  if (rows.kind === "release") to.held -= rows.movedMillicredits;
  if (rows.kind === "capture") to.held += rows.millicredits;
  if (rows.kind === "grant" && rows.model) to.runs.set(rows.model, (to.runs.get(rows.model) ?? 0) + rows.runs);
};

/** Sums the totals of ledger rows and the rows in the account's outbox. */
export const recompute = (totals: readonly RowTotal[], outbox: Account["outbox"]): RecomputedAccount => {
  const result: RecomputedAccount = { balance: 0, held: 0, rows: 0, runs: new Map() };
  for (const total of totals) addRows(result, total);
  for (const { kind, model, millicredits, movedMillicredits, runs } of outbox) {
    addRows(result, { kind, model: model ?? null, millicredits, movedMillicredits, runs, rows: 1 });
  }
  return result;
};

const isAmount = (value: number, least = 0): boolean => Number.isSafeInteger(value) && value >= least;
/** Returns the value if the reply can represent it, otherwise 0. */
export const sayable = (value: number): number => (Number.isSafeInteger(value) ? value : 0);

/** Returns two sums: the amounts that open holds count on existing budgets, and the usage of these budgets. */
const countedOnBudgets = ({ budgets, holds }: Account): { expected: number; actual: number } => {
  const open = new Map(budgets.map(({ number }) => [number, 0]));
  for (const { counted = [], items } of holds)
    for (const { countedIn, millicredits } of items)
      for (const number of (countedIn === undefined ? undefined : counted[countedIn])?.budgets ?? [])
        if (open.has(number)) open.set(number, open.get(number)! + millicredits);
  return {
    expected: sum([...open.values()]),
    actual: sum(budgets.map(({ number, used }) => Math.min(used.total, open.get(number)!))),
  };
};

type Finding = Pick<LedgerMismatch, "what" | "expected" | "actual" | "model">;

/** Returns differences between an account and the totals of its rows. */
export const differences = (account: Account, ledger: RecomputedAccount): Finding[] => {
  const remaining = new Map(account.grants.map((grant) => [grant.model, grant.remaining]));
  const used = account.budgets.flatMap((budget) => Object.values(budget.used));
  const { plan, topUp, paidBack, held } = account;
  const amounts = [plan, paidBack, held, ...remaining.values(), ...used].filter((amount) => !isAmount(amount));
  if (!isAmount(topUp, -paidBack)) amounts.push(topUp);
  const compared: Finding[] = [
    { what: "rows", expected: ledger.rows, actual: account.sequence },
    { what: "balance", expected: ledger.balance, actual: plan + topUp + held },
    { what: "budget", ...countedOnBudgets(account) },
    { what: "held", expected: ledger.held, actual: held },
    { what: "holds", expected: ledger.held, actual: sum(account.holds.flatMap((hold) => hold.items.map((item) => item.millicredits))) },
    ...[...new Set([...remaining.keys(), ...ledger.runs.keys()])].map((model): Finding => {
      return { what: "grant", model, expected: ledger.runs.get(model) ?? 0, actual: remaining.get(model) ?? 0 };
    }),
  ];
  return [
    ...compared.filter(({ expected, actual }) => expected !== actual),
    ...amounts.map((actual): Finding => ({ what: "amount", expected: 0, actual })),
  ];
};
