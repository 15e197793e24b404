/** upkeep/: what is looked for again and again, whatever became of the process that should have done it. */
import { isDatabaseAway } from "@nodeloom/platform";

/** What a look reads at once, and how many such pages it covers at most; the next look goes on from there. */
export const LOOK_PAGE = 200;
const MAX_PAGES = 20;
const AT_ONCE = 20;

export interface Each<T, R> {
  check(item: T): Promise<R>;
  /** Hears of some that were checked, with what came of each. */
  checked?(some: readonly { item: T; result: R }[]): Promise<void> | void;
  /** Hears of one that can't be checked now: the next look finds it again. */
  failed(item: T, error: unknown): void;
  /** Called before each few of them; it throws when there is no time left. */
  beat?: () => void;
}

/**
 * Checks items, a few at once and each for itself: one that fails keeps no other from its turn.
 * @throws where the database is away, which makes all of them fail
 */
export const checkEach = async <T, R>(items: readonly T[], { check, checked, failed, beat }: Each<T, R>): Promise<void> => {
  for (let first = 0; first < items.length; first += AT_ONCE) {
    beat?.();
    const some = items.slice(first, first + AT_ONCE);
    const outcomes = await Promise.allSettled(some.map(check));
    const results: { item: T; result: R }[] = [];
    for (const [index, outcome] of outcomes.entries()) {
      const item = some[index]!;
      if (outcome.status === "fulfilled") results.push({ item, result: outcome.value });
      else if (isDatabaseAway(outcome.reason)) throw outcome.reason;
      else failed(item, outcome.reason);
    }
    await checked?.(results);
  }
};

/** Checks what pages have, until one says that it is the last. */
export const lookThrough = async <T, R>(next: () => Promise<{ items: readonly T[]; isLast: boolean }>, each: Each<T, R>): Promise<void> => {
  for (let page = 0; page < MAX_PAGES; page += 1) {
    const { items, isLast } = await next();
    await checkEach(items, each);
    if (isLast) return;
  }
};
