import { isDeepStrictEqual } from "node:util";
import { groupBy } from "@nodeloom/kernel";
import type { Account } from "../account/account";
import { BILLING_LIMITS } from "../limits";
import type { Checkpoint, LedgerTotal, RowRange, RowTotal } from "../audit-store";
import { addTotals, newestOf } from "./checkpoints";
import { differences, recompute, sayable, sum, type LedgerMismatch } from "./comparison";
import type { BillingStore } from "../store";

/** Number of accounts read together, which limits the memory. */
const PAGE_ACCOUNTS = 50;
const PAGE_LEDGER_USERS = 500;
const DEFAULT_CHECK_MS = 30_000;
/** Begins a cursor that names an account whose check continues. Other cursors name the last account that was checked. */
const UNDER_WAY = "~";

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

/** Totals of an account's first rows. */
type SummedRows = Pick<Checkpoint, "sequence" | "totals">;
const NO_ROWS: SummedRows = { sequence: 0, totals: [] };

/** One call of a check. */
interface Pass {
  /** Reads every row and checks the checkpoints. Otherwise checkpoints replace the rows that they include. */
  isFull: boolean;
  isOver: () => boolean;
  result: LedgerCheck;
}

/** Groups ranges into queries of at most `rowsAtOnce` rows. A longer range is split. */
function* queriesOf(ranges: readonly RowRange[], rowsAtOnce: number): Generator<RowRange[]> {
  let [query, rows]: [RowRange[], number] = [[], 0];
  for (const range of ranges)
    for (let after = range.after ?? 0; after < range.sequence;) {
      const sequence = Math.min(range.sequence, after + rowsAtOnce - rows);
      query.push({ ...range, after, sequence });
      rows += sequence - after;
      after = sequence;
      if (rows < rowsAtOnce) continue;
      yield query;
      [query, rows] = [[], 0];
    }
  if (query.length > 0) yield query;
}

/** Sequence number up to which all rows of an account are in the ledger, so that their sums don't change any more. */
const settledSequence = ({ sequence, outbox }: Account): number => Math.min(sequence, ...outbox.map((row) => row.sequence - 1));

export interface AuditDependencies {
  store: Pick<
    BillingStore,
    "pageAccounts" | "pageLedgerUsers" | "totals" | "load" | "checkpointsOf" | "stoppedCheck" | "stopCheck" | "endCheck"
  >;
  clock: () => Date;
  rowsAtOnce?: number;
}

/** Audits all accounts by computing them again from their rows. */
export const createAudit = ({ store, clock, rowsAtOnce = BILLING_LIMITS.sumRows }: AuditDependencies) => {
  const totalsOf = async (ranges: readonly RowRange[]): Promise<LedgerTotal[]> => {
    const totals: LedgerTotal[] = [];
    for (const query of queriesOf(ranges, rowsAtOnce)) totals.push(...(await store.totals(query)));
    return totals;
  };

  const compareCheckpoint = ({ userId, totals: stored }: Checkpoint, totals: readonly RowTotal[], { mismatches }: LedgerCheck): void => {
    const [expected, actual] = [recompute(totals, []), recompute(stored, [])];
    if (isDeepStrictEqual(expected, actual)) return;
    const [ledgerMillicredits, accountMillicredits] = [sayable(expected.balance), sayable(actual.balance)];
    const balances = { expected: ledgerMillicredits, actual: accountMillicredits, ledgerMillicredits, accountMillicredits };
    mismatches.push({ userId, what: "checkpoint", ...balances });
  };

  /** @param drained totals of rows in the ledger @param summed sequence number up to which no row is in the outbox */
  const compareAccount = (account: Account, drained: readonly RowTotal[], summed: number, result: LedgerCheck): void => {
    const { userId } = account;
    const ledger = recompute(
      drained,
      account.outbox.filter(({ sequence }) => sequence > summed),
    );
    const balances = {
      ledgerMillicredits: sayable(ledger.balance),
      accountMillicredits: sayable(account.plan + account.topUp + account.held),
    };
    for (const { expected, actual, ...finding } of differences(account, ledger)) {
      result.mismatches.push({ userId, ...finding, expected: sayable(expected), actual: sayable(actual), ...balances });
    }
    const staleBefore = clock().getTime() - BILLING_LIMITS.staleHoldMs;
    for (const { executionId, at, items } of account.holds) {
      if (at.getTime() >= staleBefore) continue;
      result.staleHolds.push({ userId, executionId, millicredits: sum(items.map((item) => item.millicredits)), heldAt: at });
    }
    result.accounts += 1;
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
      compareCheckpoint(checkpoint, totals, result);
    }
    return recomputed;
  };

  const newestFor = (accounts: readonly Account[], checkpoints: readonly Checkpoint[]): Map<string, Checkpoint> =>
    newestOf(checkpoints, new Map(accounts.map(({ userId, sequence }) => [userId, sequence])));

  /** Checks accounts together. Their rows share queries. */
  const checkSmall = async (accounts: readonly Account[], checkpoints: readonly Checkpoint[], { isFull, result }: Pass): Promise<void> => {
    const newest = newestFor(accounts, isFull ? await checkCheckpoints(checkpoints, result) : checkpoints);
    const ranges = accounts.map((account) => ({ ...account, after: newest.get(account.userId)?.sequence ?? 0 }));
    const since = groupBy(await totalsOf(ranges), ({ userId }) => userId);
    for (const account of accounts) {
      const { sequence, totals } = newest.get(account.userId) ?? NO_ROWS;
      compareAccount(account, addTotals(totals, since.get(account.userId) ?? []), sequence, result);
    }
  };

  /**
   * Checks an account with many rows, in steps.
   * @param isContinued continues from the rows that an earlier call has summed
   * @returns false if the time is over; the next call continues
   */
  const checkLarge = async (account: Account, { isFull, isOver, result }: Pass, isContinued: boolean): Promise<boolean> => {
    const { userId } = account;
    const settled = settledSequence(account);
    const checkpoints = await store.checkpointsOf([userId]);
    const start = isFull ? NO_ROWS : (newestFor([account], checkpoints).get(userId) ?? NO_ROWS);
    const stopped = isContinued ? await store.stoppedCheck(userId) : undefined;
    let summed: SummedRows = stopped && stopped.sequence <= settled ? stopped : start;
    const unchecked = checkpoints.filter(({ sequence }) => isFull && sequence >= summed.sequence && sequence <= settled).toReversed();
    for (const checkpoint of [...unchecked, undefined]) {
      const end = checkpoint?.sequence ?? settled;
      while (summed.sequence < end) {
        const sequence = Math.min(end, summed.sequence + rowsAtOnce);
        const totals = await store.totals([{ userId, after: summed.sequence, sequence, outbox: [] }]);
        summed = { sequence, totals: addTotals(summed.totals, totals) };
        if (!isOver()) continue;
        await store.stopCheck({ userId, ...summed, at: clock() });
        return false;
      }
      if (checkpoint) compareCheckpoint(checkpoint, summed.totals, result);
    }
    const rest = await totalsOf([{ ...account, after: summed.sequence }]);
    compareAccount(account, addTotals(summed.totals, rest), summed.sequence, result);
    await store.endCheck(userId);
    return true;
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

  /** The next accounts to check together: those whose rows fit into one query, or a large one alone. */
  const nextAccounts = async (after: string, isFull: boolean) => {
    const page = await store.pageAccounts(after, PAGE_ACCOUNTS);
    const checkpoints = await store.checkpointsOf(page.map(({ userId }) => userId));
    const newest = isFull ? new Map<string, Checkpoint>() : newestFor(page, checkpoints);
    let rows = 0;
    const count = page.findIndex(({ userId, sequence }) => (rows += sequence - (newest.get(userId)?.sequence ?? 0)) > rowsAtOnce);
    const accounts = count < 0 ? page : page.slice(0, Math.max(1, count));
    const knownIds = new Set(accounts.map(({ userId }) => userId));
    const upTo = accounts.length === page.length && page.length < PAGE_ACCOUNTS ? undefined : accounts.at(-1)!.userId;
    return { accounts, checkpoints: checkpoints.filter(({ userId }) => knownIds.has(userId)), knownIds, upTo, isLarge: count === 0 };
  };

  return {
    /**
     * Computes every account again from its rows. The result is exact under load: rows are numbered, so only rows up to the account's read
     * are counted. Stops before the caller's deadline, also within an account, or when there are too many findings.
     * @param isFull reads every row and checks the checkpoints against them; otherwise checkpoints replace the rows that they include
     */
    check: async (cursor: string, isFull: boolean, deadlineMs = Date.now() + DEFAULT_CHECK_MS): Promise<LedgerCheck> => {
      const result: LedgerCheck = { accounts: 0, mismatches: [], staleHolds: [], nextCursor: "" };
      // Half of the time is left for the current query, which is slow on a busy machine, and the reply.
      const stopAtMs = deadlineMs - (deadlineMs - Date.now()) / 2;
      const isOver = (): boolean =>
        Date.now() >= stopAtMs || result.mismatches.length + result.staleHolds.length >= BILLING_LIMITS.checkFindings;
      const pass: Pass = { isFull, isOver, result };
      let after = cursor;
      if (cursor.startsWith(UNDER_WAY)) {
        after = cursor.slice(UNDER_WAY.length);
        const account = await store.load(after);
        if (account && !(await checkLarge(account, pass, true))) return { ...result, nextCursor: cursor };
        if (isOver()) return { ...result, nextCursor: after };
      }
      for (;;) {
        const { accounts, checkpoints, knownIds, upTo, isLarge } = await nextAccounts(after, isFull);
        await checkStrays(after, upTo, knownIds, result);
        if (!isLarge) await checkSmall(accounts, checkpoints, pass);
        else if (!(await checkLarge(accounts[0]!, pass, false))) return { ...result, nextCursor: UNDER_WAY + accounts[0]!.userId };
        if (upTo === undefined) return result;
        after = upTo;
        if (isOver()) return { ...result, nextCursor: after };
      }
    },
  };
};
