import { isDeepStrictEqual } from "node:util";
import { groupBy } from "@nodeloom/kernel";
import type { Account } from "../account/account";
import { BILLING_LIMITS } from "../limits";
import type { Checkpoint, LedgerTotal, RowRange, RowTotal } from "../audit-store";
import { addTotals, newestOf } from "./checkpoints";
import type { BillingStore } from "../store";

/** Number of accounts read together, which limits the memory. */
const PAGE_ACCOUNTS = 50;
const PAGE_LEDGER_USERS = 500;
const DEFAULT_CHECK_MS = 30_000;
/** Time reserved for the current page and the reply. */
const MARGIN_MS = 5_000;

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

/** A hold older than any run can be. */
export interface StaleHold {
  userId: string;
  executionId: string;
  millicredits: number;
  heldAt: Date;
}

export interface LedgerCheck {
  accounts: number;
  mismatches: LedgerMismatch[];
  staleHolds: StaleHold[];
  /** Empty after the last account. */
  nextCursor: string;
}

interface RecomputedAccount {
  balance: number;
  held: number;
  rows: number;
  runs: Map<string, number>;
}

const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);

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
const sayable = (value: number): number => (Number.isSafeInteger(value) ? value : 0);

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

/** Groups ranges into queries of at most `sumRows` rows. A longer range is split. */
function* queriesOf(ranges: readonly RowRange[]): Generator<RowRange[]> {
  let [query, rows]: [RowRange[], number] = [[], 0];
  for (const range of ranges)
    for (let after = range.after ?? 0; after < range.sequence;) {
      const sequence = Math.min(range.sequence, after + BILLING_LIMITS.sumRows - rows);
      query.push({ ...range, after, sequence });
      rows += sequence - after;
      after = sequence;
      if (rows < BILLING_LIMITS.sumRows) continue;
      yield query;
      [query, rows] = [[], 0];
    }
  if (query.length > 0) yield query;
}

export interface AuditDependencies {
  store: Pick<BillingStore, "pageAccounts" | "pageLedgerUsers" | "totals" | "load" | "checkpointsOf">;
  clock: () => Date;
}

/** Audits all accounts by computing them again from their rows. */
export const createAudit = ({ store, clock }: AuditDependencies) => {
  const totalsOf = async (ranges: readonly RowRange[]): Promise<LedgerTotal[]> => {
    const totals: LedgerTotal[] = [];
    for (const query of queriesOf(ranges)) totals.push(...(await store.totals(query)));
    return totals;
  };

  /** Returns totals of ledger rows: checkpoints plus later rows. */
  const sumUp = async (accounts: readonly Account[], newest: ReadonlyMap<string, Checkpoint>): Promise<Map<string, RowTotal[]>> => {
    const ranges = accounts.map((account) => ({ ...account, after: newest.get(account.userId)?.sequence ?? 0 }));
    const since = groupBy(await totalsOf(ranges), ({ userId }) => userId);
    return new Map(accounts.map(({ userId }) => [userId, addTotals(newest.get(userId)?.totals ?? [], since.get(userId) ?? [])]));
  };

  /**
   * Computes checkpoints again from their rows, each from the one before, so that a row is read once.
   * @param checkpoints newest first
   * @returns the checkpoints as they should be
   */
  const checkCheckpoints = async (checkpoints: readonly Checkpoint[], result: LedgerCheck): Promise<Checkpoint[]> => {
    const recomputed: Checkpoint[] = [];
    for (const checkpoint of checkpoints.toReversed()) {
      const { userId, sequence } = checkpoint;
      const last = recomputed.at(-1);
      const earlier = last?.userId === userId && last.sequence <= sequence ? last : undefined;
      const rows = await totalsOf([{ userId, after: earlier?.sequence ?? 0, sequence, outbox: [] }]);
      const totals = addTotals(earlier?.totals ?? [], rows);
      recomputed.push({ ...checkpoint, totals });
      const [expected, actual] = [recompute(totals, []), recompute(checkpoint.totals, [])];
      if (isDeepStrictEqual(expected, actual)) continue;
      const [ledgerMillicredits, accountMillicredits] = [sayable(expected.balance), sayable(actual.balance)];
      const balances = { expected: ledgerMillicredits, actual: accountMillicredits, ledgerMillicredits, accountMillicredits };
      result.mismatches.push({ userId, what: "checkpoint", ...balances });
    }
    return recomputed;
  };

  const checkAccounts = async (accounts: readonly Account[], isFull: boolean, result: LedgerCheck): Promise<void> => {
    const checkpoints = await store.checkpointsOf(accounts.map(({ userId }) => userId));
    const sequences = new Map(accounts.map(({ userId, sequence }) => [userId, sequence]));
    const newest = newestOf(isFull ? await checkCheckpoints(checkpoints, result) : checkpoints, sequences);
    const drained = await sumUp(accounts, newest);
    const staleBefore = clock().getTime() - BILLING_LIMITS.staleHoldMs;
    for (const account of accounts) {
      const { userId } = account;
      const summed = newest.get(userId)?.sequence ?? 0;
      const ledger = recompute(
        drained.get(userId)!,
        account.outbox.filter(({ sequence }) => sequence > summed),
      );
      const balances = {
        ledgerMillicredits: sayable(ledger.balance),
        accountMillicredits: sayable(account.plan + account.topUp + account.held),
      };
      for (const { expected, actual, ...finding } of differences(account, ledger)) {
        result.mismatches.push({ userId, ...finding, expected: sayable(expected), actual: sayable(actual), ...balances });
      }
      for (const { executionId, at, items } of account.holds) {
        if (at.getTime() >= staleBefore) continue;
        result.staleHolds.push({ userId, executionId, millicredits: sum(items.map((item) => item.millicredits)), heldAt: at });
      }
    }
    result.accounts += accounts.length;
  };

  /** Finds rows in an id range whose account doesn't exist. */
  const checkStrays = async (
    after: string,
    upTo: string | undefined,
    knownUsers: ReadonlySet<string>,
    result: LedgerCheck,
  ): Promise<void> => {
    for (let last = after; ;) {
      const users = await store.pageLedgerUsers(last, upTo, PAGE_LEDGER_USERS);
      for (const userId of users.filter((user) => !knownUsers.has(user))) {
        // The account may have been created during the check.
        if (await store.load(userId)) continue;
        const totals = await store.totals([{ userId, sequence: Number.MAX_SAFE_INTEGER, outbox: [] }]);
        const ledgerMillicredits = sayable(recompute(totals, []).balance);
        result.mismatches.push({
          userId,
          what: "account",
          expected: ledgerMillicredits,
          actual: 0,
          ledgerMillicredits,
          accountMillicredits: 0,
        });
      }
      if (users.length < PAGE_LEDGER_USERS) return;
      last = users.at(-1)!;
    }
  };

  return {
    /**
     * Computes every account again from its rows. The result is exact under load: rows are numbered, so only rows up to the account's read
     * are counted. Stops before the caller's deadline, or when there are too many findings.
     * @param isFull reads every row and checks the checkpoints against them; otherwise checkpoints replace the rows that they include
     */
    check: async (cursor: string, isFull: boolean, deadlineMs = Date.now() + DEFAULT_CHECK_MS): Promise<LedgerCheck> => {
      const result: LedgerCheck = { accounts: 0, mismatches: [], staleHolds: [], nextCursor: "" };
      const stopAtMs = deadlineMs - Math.min(MARGIN_MS, (deadlineMs - Date.now()) / 2);
      const isOver = (): boolean =>
        Date.now() >= stopAtMs || result.mismatches.length + result.staleHolds.length >= BILLING_LIMITS.checkFindings;
      for (let after = cursor; ;) {
        const accounts = await store.pageAccounts(after, PAGE_ACCOUNTS);
        const upTo = accounts.length < PAGE_ACCOUNTS ? undefined : accounts.at(-1)!.userId;
        await checkAccounts(accounts, isFull, result);
        await checkStrays(after, upTo, new Set(accounts.map(({ userId }) => userId)), result);
        if (upTo === undefined) return result;
        after = upTo;
        if (isOver()) return { ...result, nextCursor: after };
      }
    },
  };
};
