/** Budget windows in UTC: days start at midnight, weeks on Monday, months on their first day. */

import type { BudgetWindow } from "@nodeloom/kernel";

const DAY_MS = 86_400_000;
const DAYS_OF_WEEK = 7;
/** Days from Monday to 1 January 1970, a Thursday. */
const EPOCH_WEEKDAY = 3;

const dayNumber = (at: Date): number => Math.floor(at.getTime() / DAY_MS);

/** Returns the start of the window that contains a time; the epoch for an endless window. */
export const windowStart = (window: BudgetWindow, at: Date): Date => {
  const day = dayNumber(at);
  switch (window) {
    case "day":
      return new Date(day * DAY_MS);
    case "week":
      return new Date((day - ((day + EPOCH_WEEKDAY) % DAYS_OF_WEEK)) * DAY_MS);
    case "month":
      return new Date(Date.UTC(at.getUTCFullYear(), at.getUTCMonth(), 1));
    case "total":
      return new Date(0);
  }
};

/** Returns the end of the window that contains a time; null for an endless window. */
export const windowEnd = (window: BudgetWindow, at: Date): Date | null => {
  const start = windowStart(window, at);
  switch (window) {
    case "day":
      return new Date(start.getTime() + DAY_MS);
    case "week":
      return new Date(start.getTime() + DAYS_OF_WEEK * DAY_MS);
    case "month":
      return new Date(Date.UTC(start.getUTCFullYear(), start.getUTCMonth() + 1, 1));
    case "total":
      return null;
  }
};

export const inSameWindow = (window: BudgetWindow, one: Date, other: Date): boolean =>
  windowStart(window, one).getTime() === windowStart(window, other).getTime();
