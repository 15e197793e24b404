/** All windows are in UTC. Weeks start on Monday; `total` never ends. */
export const BUDGET_WINDOWS = ["day", "week", "month", "total"] as const;
export type BudgetWindow = (typeof BUDGET_WINDOWS)[number];

/** Value of a default budget. Its limit applies to each metadata value that has no budget of its own. */
export const DEFAULT_BUDGET_VALUE = "*";

export const BUDGET_BOUNDS = {
  /** Alert thresholds per budget. */
  alerts: 5,
} as const;

/** Bounds of the metadata that a caller can set on a run. */
export const RUN_METADATA = { entries: 20, nameChars: 40, valueChars: 500 } as const;

/** Metadata entries that an API key can set. The rest are for callers, schedules and hooks; schedules and hooks add their own names. */
export const KEY_METADATA_ENTRIES = 10;
