/** Reads pages of rows for reconciliation. Each row is checked separately. */
import { isDatabaseUnavailable } from "@nodeloom/platform";

/** Numbers of rows checked, repaired and failed. The next pass retries the failed rows. */
export interface PassReport {
  seen: number;
  changed: number;
  failed: number;
}

/** Rows per page. A pass reads at most `MAX_PAGES` pages; the next pass continues from there. */
export const LOOK_PAGE = 200;
const MAX_PAGES = 20;
const AT_ONCE = 20;

export interface Each<T> {
  /** @returns true if the item needed a repair */
  check(item: T): Promise<boolean>;
  /** Receives the items that needed no repair. */
  fine?(some: readonly T[]): Promise<void>;
  /** Receives an item that can't be checked now. The next pass finds it again. */
  failed(item: T, error: unknown): void;
  /** Called before every group of items. It throws when no time is left. */
  beat?: () => void;
}

/**
 * Checks items, a few concurrently. If an item fails, the other items are still checked. @throws if the database is unavailable, because
 * then all items fail
 */
export const checkEach = async <T>(
  items: readonly T[],
  { check, fine, failed, beat }: Each<T>,
  looked: PassReport = { seen: 0, changed: 0, failed: 0 },
): Promise<PassReport> => {
  looked.seen += items.length;
  for (let first = 0; first < items.length; first += AT_ONCE) {
    beat?.();
    const some = items.slice(first, first + AT_ONCE);
    const outcomes = await Promise.allSettled(some.map(check));
    for (const [index, outcome] of outcomes.entries()) {
      if (outcome.status === "fulfilled") looked.changed += Number(outcome.value);
      else if (isDatabaseUnavailable(outcome.reason)) throw outcome.reason;
      else {
        looked.failed += 1;
        failed(some[index]!, outcome.reason);
      }
    }
    await fine?.(some.filter((_, index) => (outcomes[index] as { value?: boolean }).value === false));
  }
  return looked;
};

export const lookThrough = async <T>(next: () => Promise<{ items: readonly T[]; isLast: boolean }>, each: Each<T>): Promise<PassReport> => {
  const looked = { seen: 0, changed: 0, failed: 0 };
  for (let page = 0; page < MAX_PAGES; page += 1) {
    const { items, isLast } = await next();
    await checkEach(items, each, looked);
    if (isLast) break;
  }
  return looked;
};
