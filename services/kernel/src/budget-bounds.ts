/** The windows in which a budget may be used up: all in UTC, weeks from Monday; `total` has no end. */
export const BUDGET_WINDOWS = ["day", "week", "month", "total"] as const;
export type BudgetWindow = (typeof BUDGET_WINDOWS)[number];

/** Every bound of budgets. */
export const BUDGET_BOUNDS = {
  /** Of one account. */
  budgets: 500,
  /** Shares of a budget that are announced. */
  alerts: 5,
} as const;

/** What a caller may write on a run. */
export const RUN_METADATA = { entries: 20, nameChars: 40, valueChars: 500 } as const;

/** What a key may fix of that: the rest is left to its callers, and to schedules and hooks, which name themselves. */
export const KEY_METADATA_ENTRIES = 10;
