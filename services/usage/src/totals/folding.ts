import type { CountedPart, UsageStore } from "../store";
import { deltasOf, withinWeight } from "./totals";
import type { Fold, Progress, TotalsStore } from "./totals-store";

/**
 * Folding adds final rows to their user's totals, some at a time. Final rows never change, so that a total is a sum of facts.
 * A fold is written down first (its number and rows), then added to each total that does not have its number yet, then its
 * rows are marked, then it is marked as complete. A process that dies in between leaves a fold that any process can complete.
 * Rows that are kept no longer leave the same way: what they added is taken away, and instead of being marked they are deleted.
 */

/** Final rows of a user that may wait for their fold. */
const FOLD_AFTER_ROWS = 100;
const FOLD_ROWS = 200;
/** A fold writes to at most as many totals, a single row apart. */
const FOLD_TOTALS = 2_000;
/** Users whose finished runs are counted at once; one that is forgotten is folded when the list is read. */
const NOTED_USERS = 10_000;

export type FoldingStore = Pick<UsageStore, "countable" | "parts" | "markCounted" | "remove">;
export type FoldingTotals = Pick<TotalsStore, "progress" | "begin" | "add" | "complete">;

export interface FoldingOptions {
  store: FoldingStore;
  totals: FoldingTotals;
  onError(error: unknown): void;
}

export interface Folding {
  /** How far a user's totals have come, with no fold left half done. */
  progress(userId: string): Promise<Progress>;
  /** Hears of a row that became final; folds in the background when there are many. */
  noteFinal(userId: string): void;
  /** Folds in the background. */
  wake(userId: string): void;
  /** Folds until fewer than `least` rows wait. */
  foldAll(userId: string, least?: number): Promise<void>;
  /** Deletes rows of a user, all of which are in the totals; answers how many, 0 where another fold came first. */
  remove(userId: string, executionIds: string[]): Promise<number>;
  /** Ends the work in the background. */
  stop(): Promise<void>;
}

const ids = (rows: readonly CountedPart[]): string[] => rows.map(({ executionId }) => executionId);

export const createFolding = ({ store, totals, onError }: FoldingOptions): Folding => {
  const rowsSinceFold = new Map<string, number>();
  const waiting = new Set<string>();
  let working: Promise<void> | undefined;
  let isStopped = false;

  const finish = async (userId: string, { number, executionIds, removes }: Fold): Promise<void> => {
    // Rows that are gone already had been taken away from every total before the first of them was deleted.
    await totals.add(number, deltasOf(await store.parts(executionIds), removes ? -1 : 1));
    await (removes ? store.remove(executionIds) : store.markCounted(executionIds));
    await totals.complete(userId, number);
  };

  const progress = async (userId: string): Promise<Progress> => {
    const found = await totals.progress(userId);
    if (!found.pending) return found;
    await finish(userId, found.pending);
    return progress(userId);
  };

  /** One fold; false when there is too little to fold. */
  const fold = async (userId: string, least: number): Promise<boolean> => {
    // The order matters: rows that are read after this are in no fold up to its number.
    const { folds } = await progress(userId);
    const rows = await store.countable(userId, FOLD_ROWS);
    if (rows.length < least) return false;
    const begun = { number: folds + 1, executionIds: ids(withinWeight(rows, FOLD_TOTALS)) };
    if (await totals.begin(userId, begun)) await finish(userId, begun);
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
      const begun = { number: folds + 1, executionIds, removes: true };
      if (!(await totals.begin(userId, begun))) return 0;
      await finish(userId, begun);
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
