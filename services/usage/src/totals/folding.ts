import type { CountedPart, UsageStore } from "../store";
import { deltasOf, withinWeight } from "./totals";
import type { Fold, Progress, TotalsStore } from "./totals-store";

/**
 * Folding adds batches of final rows to their user's totals. Final rows never change, so a total is exact. A fold has four steps: record
 * its number and rows, add it to each total that doesn't have its number yet, mark its rows, and mark the fold as complete. After a crash
 * any process can complete it. Expired rows are removed in the same way: their share is subtracted, and they are deleted instead of marked.
 */

/** Number of a user's final rows that triggers a fold. */
const FOLD_AFTER_ROWS = 100;
const FOLD_ROWS = 200;
/** Maximum totals that one fold writes, except for a fold of one row. */
const FOLD_TOTALS = 2_000;
/** Maximum users whose finished runs are counted in memory. The rows of other users are folded when their list is read. */
const NOTED_USERS = 10_000;

export type FoldingStore = Pick<UsageStore, "countable" | "parts" | "markCounted" | "remove">;
export type FoldingTotals = Pick<TotalsStore, "progress" | "begin" | "add" | "complete">;

export interface FoldingOptions {
  store: FoldingStore;
  totals: FoldingTotals;
  onError(error: unknown): void;
}

export interface Folding {
  /** Returns the progress of a user's totals, after completing a pending fold. */
  progress(userId: string): Promise<Progress>;
  /** Counts a row that became final. Above a threshold, starts a fold in the background. */
  noteFinal(userId: string): void;
  /** Folds in the background. */
  wake(userId: string): void;
  /** Folds until fewer than `least` rows remain. */
  foldAll(userId: string, least?: number): Promise<void>;
  /** Deletes final rows, and subtracts those in the totals. @returns number of rows; 0 if another fold came first */
  remove(userId: string, executionIds: string[]): Promise<number>;
  stop(): Promise<void>;
}

const ids = (rows: readonly CountedPart[]): string[] => rows.map(({ executionId }) => executionId);

export const createFolding = ({ store, totals, onError }: FoldingOptions): Folding => {
  const rowsSinceFold = new Map<string, number>();
  const waiting = new Set<string>();
  let working: Promise<void> | undefined;
  let isStopped = false;

  const finish = async (userId: string, { number, executionIds, removes }: Fold): Promise<void> => {
    const rows = await store.parts(executionIds);
    // Rows that are already deleted were subtracted from every total before the first deletion. Rows that were never added aren't subtracted.
    const counted = removes ? rows.filter((row) => row.counted) : rows;
    await totals.add(number, deltasOf(counted, removes ? -1 : 1));
    await (removes ? store.remove(executionIds) : store.markCounted(executionIds));
    await totals.complete(userId, number);
  };

  const progress = async (userId: string): Promise<Progress> => {
    const foldProgress = await totals.progress(userId);
    if (!foldProgress.pending) return foldProgress;
    await finish(userId, foldProgress.pending);
    return progress(userId);
  };

  /** Runs one fold. @returns false if there are too few rows */
  const fold = async (userId: string, least: number): Promise<boolean> => {
    // Read the progress first: rows read afterwards don't belong to any fold up to its number.
    const { folds } = await progress(userId);
    const rows = await store.countable(userId, FOLD_ROWS);
    if (rows.length < least) return false;
    const newFold = { number: folds + 1, executionIds: ids(withinWeight(rows, FOLD_TOTALS)) };
    if (await totals.begin(userId, newFold)) await finish(userId, newFold);
    return true;
  };

  const foldAll = async (userId: string, least = FOLD_AFTER_ROWS): Promise<void> => {
    while (!isStopped && (await fold(userId, least)));
  };

  const work = async (): Promise<void> => {
    for (const userId of waiting) {
      waiting.delete(userId);
      await foldAll(userId).catch(onError);
    }
  };

  const wake = (userId: string): void => {
    if (isStopped) return;
    waiting.add(userId);
    working ??= work().finally(() => (working = undefined));
  };

  return {
    progress,
    foldAll,
    wake,
    remove: async (userId, executionIds) => {
      const { folds } = await progress(userId);
      const newFold = { number: folds + 1, executionIds, removes: true };
      if (!(await totals.begin(userId, newFold))) return 0;
      await finish(userId, newFold);
      return executionIds.length;
    },
    noteFinal: (userId) => {
      const count = (rowsSinceFold.get(userId) ?? 0) + 1;
      rowsSinceFold.delete(userId);
      if (count >= FOLD_AFTER_ROWS) return wake(userId);
      rowsSinceFold.set(userId, count);
      if (rowsSinceFold.size > NOTED_USERS) rowsSinceFold.delete(rowsSinceFold.keys().next().value!);
    },
    stop: async () => {
      isStopped = true;
      await working;
    },
  };
};
