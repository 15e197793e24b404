import type { Logger, RemovedPage } from "@nodeloom/platform";
import type { Checkpoint, RowTotal } from "../audit-store";
import { BILLING_LIMITS } from "../limits";
import type { BillingStore } from "../store";

/** Age at which all earlier rows of an account are in the ledger. */
const SETTLE_MS = 7 * 86_400_000;
/** Steps after which a page ends with the current accounts. */
const STEPS_PER_PAGE = 100;
/** Accounts whose rows are summed at the same time. A step is a few short queries, most of it waiting. */
const ACCOUNTS_AT_ONCE = 8;

/** Sums totals by kind and model. */
export const addTotals = (...lists: readonly (readonly RowTotal[])[]): RowTotal[] => {
  const sums = new Map<string, RowTotal>();
  for (const { kind, model, millicredits, movedMillicredits, runs, rows } of lists.flat()) {
    const key = JSON.stringify([kind, model ?? null]);
    const sum = sums.get(key) ?? { kind, model: model ?? null, millicredits: 0, movedMillicredits: 0, runs: 0, rows: 0 };
    sums.set(key, {
      ...sum,
      millicredits: sum.millicredits + millicredits,
      movedMillicredits: sum.movedMillicredits + movedMillicredits,
      runs: sum.runs + runs,
      rows: sum.rows + rows,
    });
  }
  return [...sums.values()];
};

/** Returns the newest usable checkpoint of each account. An account restored from a backup can be older than a checkpoint. */
export const newestOf = (checkpoints: readonly Checkpoint[], sequences: ReadonlyMap<string, number>): Map<string, Checkpoint> => {
  const newest = new Map<string, Checkpoint>();
  for (const checkpoint of checkpoints) {
    const { userId, year, sequence } = checkpoint;
    const isUsable = sequence <= (sequences.get(userId) ?? 0);
    if (isUsable && year > (newest.get(userId)?.year ?? 0)) newest.set(userId, checkpoint);
  }
  return newest;
};

export interface CheckpointDependencies {
  store: Pick<BillingStore, "pageAccounts" | "checkpointsOf" | "advanceCheckpoint" | "firstRowAfter" | "lastSequenceBefore" | "totals">;
  logger: Logger;
  clock: () => Date;
  pageAccounts?: number;
  rowsAtOnce?: number;
}

const isSameMonth = (one: Date, other: Date): boolean => one.toISOString().slice(0, 7) === other.toISOString().slice(0, 7);

/**
 * Sums each account's settled rows once a month, and those of busy accounts in steps of `rowsAtOnce` rows, so that an audit reads only later
 * rows. A process that ends between two steps loses nothing.
 */
export const createCheckpoints = ({
  store,
  logger,
  clock,
  pageAccounts = BILLING_LIMITS.checkpointPageAccounts,
  rowsAtOnce = BILLING_LIMITS.sumRows,
}: CheckpointDependencies) => {
  /** Sums the next rows of one year. @returns the new checkpoint; undefined if there is nothing to sum, or another process did so */
  const advance = async (userId: string, earlier: Checkpoint | undefined): Promise<Checkpoint | undefined> => {
    const settledBefore = new Date(clock().getTime() - SETTLE_MS);
    const after = earlier?.sequence ?? 0;
    const first = await store.firstRowAfter(userId, after);
    if (!first || first.at >= settledBefore) return undefined;
    const year = first.at.getUTCFullYear();
    const yearEnd = new Date(Date.UTC(year + 1, 0, 1));
    const last = await store.lastSequenceBefore(userId, yearEnd < settledBefore ? yearEnd : settledBefore);
    const sequence = Math.min(last, after + rowsAtOnce);
    if (sequence <= after) return undefined;
    const isPart = earlier?.year === year && isSameMonth(earlier.at, clock()) && yearEnd > settledBefore;
    if (isPart && sequence - after < rowsAtOnce) return undefined;
    const totals = await store.totals([{ userId, after, sequence, outbox: [] }]);
    const rows = totals.reduce((sum, total) => sum + total.rows, 0);
    if (rows !== sequence - after) {
      logger.error({ userId, year, missing: sequence - after - rows }, "ledger rows can't be summed up: some are missing");
      return undefined;
    }
    const checkpoint = { userId, year, sequence, totals: addTotals(earlier?.totals ?? [], totals), at: clock() };
    return (await store.advanceCheckpoint(checkpoint, earlier)) ? checkpoint : undefined;
  };

  /** True if `advance` can have nothing to do: this month's step is made, and the rows that followed make none. Spares its reads. */
  const isUpToDate = (sequence: number, earlier: Checkpoint | undefined): boolean => {
    if (!earlier || sequence === earlier.sequence) return sequence === (earlier?.sequence ?? 0);
    const settledBefore = new Date(clock().getTime() - SETTLE_MS);
    const isThisYear = earlier.year === settledBefore.getUTCFullYear();
    return isThisYear && isSameMonth(earlier.at, clock()) && sequence - earlier.sequence < rowsAtOnce;
  };

  /** Sums all settled rows of an account. @returns number of steps */
  const advanceAll = async (userId: string, sequence: number, newest: Checkpoint | undefined): Promise<number> => {
    let steps = 0;
    for (let checkpoint = newest; !isUpToDate(sequence, checkpoint); steps += 1) {
      checkpoint = await advance(userId, checkpoint);
      if (!checkpoint) break;
    }
    return steps;
  };

  return {
    /** Advances the checkpoints of a page of accounts. Idempotent. @returns number of steps */
    page: async (cursor: string): Promise<RemovedPage> => {
      const accounts = await store.pageAccounts(cursor, pageAccounts);
      const sequences = new Map(accounts.map(({ userId, sequence }) => [userId, sequence]));
      const newest = newestOf(await store.checkpointsOf([...sequences.keys()]), sequences);
      let steps = 0;
      for (let index = 0; index < accounts.length; index += ACCOUNTS_AT_ONCE) {
        const some = accounts.slice(index, index + ACCOUNTS_AT_ONCE);
        const counts = await Promise.all(some.map(({ userId, sequence }) => advanceAll(userId, sequence, newest.get(userId))));
        steps += counts.reduce((sum, count) => sum + count, 0);
        if (steps >= STEPS_PER_PAGE) return { removed: steps, next: some.at(-1)!.userId };
      }
      return { removed: steps, next: accounts.length < pageAccounts ? "" : accounts.at(-1)!.userId };
    },
  };
};
