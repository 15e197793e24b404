/** Pages of rows that are looked through by reconciliation, and each checked for itself. */
import { isDatabaseAway } from "@nodeloom/platform";

/** How many rows were looked at, were put right, and could not be: the next look tries those again. */
export interface Looked {
  seen: number;
  changed: number;
  failed: number;
}

/** What a look reads at once, and how many such pages it covers at most; the next look goes on from there. */
export const LOOK_PAGE = 200;
const MAX_PAGES = 20;
const AT_ONCE = 20;

export interface Each<T> {
  /** @returns whether something was done about it */
  check(item: T): Promise<boolean>;
  /** Hears of those among some that needed nothing. */
  fine?(some: readonly T[]): Promise<void>;
  /** Hears of one that can't be checked now: the next look finds it again. */
  failed(item: T, error: unknown): void;
  /** Called before each few of them; it throws when there is no time left. */
  beat?: () => void;
}

/**
 * Checks items, a few at once and each for itself: one that fails keeps no other from its turn.
 * @throws where the database is away, which makes all of them fail
 */
export const checkEach = async <T>(
  items: readonly T[],
  { check, fine, failed, beat }: Each<T>,
  looked: Looked = { seen: 0, changed: 0, failed: 0 },
): Promise<Looked> => {
  looked.seen += items.length;
  for (let first = 0; first < items.length; first += AT_ONCE) {
    beat?.();
    const some = items.slice(first, first + AT_ONCE);
    const outcomes = await Promise.allSettled(some.map(check));
    for (const [index, outcome] of outcomes.entries()) {
      if (outcome.status === "fulfilled") looked.changed += Number(outcome.value);
      else if (isDatabaseAway(outcome.reason)) throw outcome.reason;
      else {
        looked.failed += 1;
        failed(some[index]!, outcome.reason);
      }
    }
    await fine?.(some.filter((_, index) => (outcomes[index] as { value?: boolean }).value === false));
  }
  return looked;
};

/** Checks what pages have, until one says that it is the last. */
export const lookThrough = async <T>(next: () => Promise<{ items: readonly T[]; isLast: boolean }>, each: Each<T>): Promise<Looked> => {
  const looked = { seen: 0, changed: 0, failed: 0 };
  for (let page = 0; page < MAX_PAGES; page += 1) {
    const { items, isLast } = await next();
    await checkEach(items, each, looked);
    if (isLast) break;
  }
  return looked;
};
