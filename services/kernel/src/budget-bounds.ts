/** All windows are in UTC. Weeks start on Monday; `total` never ends. */
export const BUDGET_WINDOWS = ["day", "week", "month", "total"] as const;
export type BudgetWindow = (typeof BUDGET_WINDOWS)[number];

/** The value of a default budget: each value of the metadata member without a budget of its own has this limit. */
export const DEFAULT_BUDGET_VALUE = "*";

export const BUDGET_BOUNDS = {
  /** Thresholds that send an alert, per budget. */
  alerts: 5,
} as const;

/** Bounds of the metadata that a caller can set on a run. */
export const RUN_METADATA = { entries: 20, nameChars: 40, valueChars: 500 } as const;

/** Entries that an API key can fix. The remaining entries are for callers, and for schedules and hooks, which add their own names. */
export const KEY_METADATA_ENTRIES = 10;
