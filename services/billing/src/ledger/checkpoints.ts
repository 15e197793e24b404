import type { Logger, RemovedPage } from "@nodeloom/platform";
import type { Checkpoint, RowTotal } from "./audit-store";
import { BILLING_LIMITS } from "../limits";
import type { BillingStore } from "../store";

/** Delay after the end of a year. By then all rows of the year are in the ledger. */
const SETTLE_MS = 7 * 86_400_000;

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
  store: Pick<BillingStore, "pageAccounts" | "checkpointsOf" | "addCheckpoint" | "firstRowAfter" | "lastSequenceBefore" | "totals">;
  logger: Logger;
  clock: () => Date;
  pageAccounts?: number;
}

/** Sums each account's rows of past years once a year, so that an audit reads only later rows. */
export const createCheckpoints = ({
  store,
  logger,
  clock,
  pageAccounts = BILLING_LIMITS.checkpointPageAccounts,
}: CheckpointDependencies) => {
  const write = async (userId: string, year: number, earlier: Checkpoint | undefined): Promise<boolean> => {
    const end = new Date(Date.UTC(year + 1, 0, 1));
    const after = earlier?.sequence ?? 0;
    const first = await store.firstRowAfter(userId, after);
    if (!first || first.at >= end) return false;
    const sequence = await store.lastSequenceBefore(userId, end);
    if (sequence <= after) return false;
    const totals = await store.totals([{ userId, after, sequence, outbox: [] }]);
    const rows = totals.reduce((sum, total) => sum + total.rows, 0);
    if (rows !== sequence - after) {
      logger.error({ userId, year, missing: sequence - after - rows }, "a year of the ledger can't be summed up: rows are missing");
      return false;
    }
    return store.addCheckpoint({ userId, year, sequence, totals: addTotals(earlier?.totals ?? [], totals), at: clock() });
  };

  return {
    /** Writes missing checkpoints of the last completed year for a page of accounts. Idempotent. @returns number of checkpoints */
    page: async (cursor: string): Promise<RemovedPage> => {
      const year = new Date(clock().getTime() - SETTLE_MS).getUTCFullYear() - 1;
      const accounts = await store.pageAccounts(cursor, pageAccounts);
      const sequences = new Map(accounts.map(({ userId, sequence }) => [userId, sequence]));
      const newest = newestOf(await store.checkpointsOf([...sequences.keys()]), sequences);
      let writtenCount = 0;
      for (const { userId } of accounts) {
        const earlier = newest.get(userId);
        if ((earlier?.year ?? 0) < year && (await write(userId, year, earlier))) writtenCount += 1;
      }
      return { removed: writtenCount, next: accounts.length < pageAccounts ? "" : accounts.at(-1)!.userId };
    },
  };
};
