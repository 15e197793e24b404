import type { Account } from "./account";
import { BILLING_LIMITS } from "./limits";
import type { LedgerRow } from "./movement";
import type { Outbox } from "./outbox";
import type { BillingStore } from "./store";

const CHECKED_ACCOUNTS = 100;

export interface LedgerPage {
  rows: LedgerRow[];
  /** Empty on the last page. */
  nextCursor: string;
}

export interface LedgerMismatch {
  userId: string;
  ledgerMillicredits: number;
  accountMillicredits: number;
}

export interface LedgerCheck {
  accounts: number;
  mismatches: LedgerMismatch[];
}

export interface LedgerDependencies {
  store: Pick<BillingStore, "listRows" | "pageAccounts" | "totals">;
  outbox: Pick<Outbox, "flush">;
}

const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);

/** Whether the balances make sense by themselves: nothing negative, and held is what the active holds say. */
const isSound = (account: Account): boolean => {
  const held = sum(account.holds.flatMap((hold) => hold.items.map((item) => item.millicredits)));
  const counts = [account.plan, account.topUp, account.held, ...account.grants.map((grant) => grant.remaining)];
  return held === account.held && counts.every((count) => Number.isSafeInteger(count) && count >= 0);
};

/** Reads the ledger of one account and audits that of all. */
export const createLedger = ({ store, outbox }: LedgerDependencies) => ({
  /** An account's rows, newest first, complete up to the moment of the call. */
  page: async (userId: string, limit: number, cursor: string): Promise<LedgerPage> => {
    await outbox.flush(userId);
    const size = limit || BILLING_LIMITS.ledgerPageDefault;
    const found = await store.listRows(userId, cursor ? Number(cursor) : Number.MAX_SAFE_INTEGER, size + 1);
    const rows = found.slice(0, size);
    return { rows, nextCursor: found.length > size ? String(rows.at(-1)!.sequence) : "" };
  },

  /**
   * Recomputes, for every account, that its rows in ledger and outbox are complete and sum up to available + held.
   * Exact under load: rows are numbered, so only those up to the moment an account was read are counted.
   */
  check: async (): Promise<LedgerCheck> => {
    const result: LedgerCheck = { accounts: 0, mismatches: [] };
    let after = "";
    for (;;) {
      const accounts = await store.pageAccounts(after, CHECKED_ACCOUNTS);
      const last = accounts.at(-1);
      if (!last) return result;
      after = last.userId;
      const drained = new Map((await store.totals(accounts)).map((total) => [total.userId, total]));
      for (const account of accounts) {
        const { millicredits = 0, rows = 0 } = drained.get(account.userId) ?? {};
        const ledgerMillicredits = millicredits + sum(account.outbox.map((row) => row.millicredits));
        const accountMillicredits = account.plan + account.topUp + account.held;
        const complete = rows + account.outbox.length === account.sequence;
        result.accounts += 1;
        if (ledgerMillicredits !== accountMillicredits || !complete || !isSound(account)) {
          result.mismatches.push({ userId: account.userId, ledgerMillicredits, accountMillicredits });
        }
      }
    }
  },
});
