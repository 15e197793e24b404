/** Budgets: spending limits for a key, a workflow or a metadata value, as pure functions. */

import { BUDGET_WINDOWS, DEFAULT_BUDGET_VALUE, DomainError, toCredits, type BudgetWindow } from "@nodeloom/kernel";
import { inSameWindow, windowEnd, windowStart } from "./windows";

/**
 * Selects the runs that a budget counts. `name` is a metadata member, and empty for other types. `value` is a key id, a workflow slug or
 * the member's value.
 */
export type BudgetScope = { type: "key" | "workflow"; name: ""; value: string } | { type: "metadata"; name: string; value: string };

/** Data of a run that decides which budgets count it. */
export interface Subject {
  /** Empty for a session. */
  keyId: string;
  /** Empty for a direct model run. */
  workflowSlug: string;
  metadata: Readonly<Record<string, string>>;
}

/**
 * A stored budget. Amounts are in milli-credits. Usage is counted for all window kinds, so that the kind can change at any time. Each count
 * belongs to the window that contains `countedAt`.
 */
export interface Budget {
  id: string;
  /** Unique among all budgets that the account ever had. Holds refer to it. */
  number: number;
  scope: BudgetScope;
  limit: number;
  window: BudgetWindow;
  /** Alert thresholds in thousandths of the limit, ascending. */
  alertAt: number[];
  /** Thresholds already announced in this window. */
  alerted: number[];
  /** Held and captured credits since the start of the window or of the budget. */
  used: Record<BudgetWindow, number>;
  countedAt: Date;
  createdAt: Date;
}

/** Alert that a budget's usage reached a threshold. */
export interface BudgetAlert {
  /** Deterministic for each threshold, limit and window. */
  id: string;
  budgetId: string;
  scope: BudgetScope;
  window: BudgetWindow;
  windowStart: Date;
  resetsAt: Date | null;
  limit: number;
  used: number;
  /** In thousandths of the limit. */
  threshold: number;
  at: Date;
}

/** Part of a hold that counters of default budgets count. */
export interface DefaultReservation {
  id: string;
  /** Amount on each of the counters. */
  millicredits: number;
  counters: string[];
}

/** Numbers of the budgets that count a hold's calls, and the time of the count. */
export interface CountedBudgets {
  at: Date;
  budgets: number[];
  /** Amount on counters of default budgets. */
  reserved?: DefaultReservation;
}

const THOUSAND = 1_000;

export const isSameScope = (one: BudgetScope, other: BudgetScope): boolean =>
  one.type === other.type && one.name === other.name && one.value === other.value;

/** True for a budget that applies to each metadata value without its own budget. */
export const isDefault = ({ type, value }: BudgetScope): boolean => type === "metadata" && value === DEFAULT_BUDGET_VALUE;

/** Default budgets don't cover runs directly. The counters of their values do. */
export const covers = (scope: BudgetScope, { keyId, workflowSlug, metadata }: Subject): boolean => {
  const { type, name, value } = scope;
  switch (type) {
    case "key":
      return value === keyId;
    case "workflow":
      return value === workflowSlug;
    case "metadata":
      return !isDefault(scope) && Object.hasOwn(metadata, name) && metadata[name] === value;
  }
};

const laterOf = (one: Date, other: Date): Date => (one > other ? one : other);

/** Returns the budget at a time, with counts of past windows reset. If clocks differ, the latest time is used. */
export const rolled = (budget: Budget, at: Date): Budget => {
  const now = laterOf(budget.countedAt, at);
  const used = { ...budget.used };
  for (const window of BUDGET_WINDOWS) if (!inSameWindow(window, budget.countedAt, now)) used[window] = 0;
  const alerted = inSameWindow(budget.window, budget.countedAt, now) ? budget.alerted : [];
  return { ...budget, used, alerted, countedAt: now };
};

const add = (budget: Budget, windows: readonly BudgetWindow[], millicredits: number): Budget => {
  const used = { ...budget.used };
  for (const window of windows) used[window] += millicredits;
  return { ...budget, used };
};

/** A budget with a limit of zero forbids runs and never reaches a threshold. */
export const isReached = ({ limit, used, window }: Budget, threshold: number): boolean =>
  limit > 0 && used[window] * THOUSAND >= limit * threshold;

/** Marks a budget's due alerts as announced. Returns the budget and these alerts. */
export const withAlerts = (budget: Budget): { budget: Budget; alerts: BudgetAlert[] } => {
  const { id, scope, window, limit, used, countedAt, alerted } = budget;
  const reached = budget.alertAt.filter((threshold) => !alerted.includes(threshold) && isReached(budget, threshold));
  if (reached.length === 0) return { budget, alerts: [] };
  const start = windowStart(window, countedAt);
  const alerts = reached.map((threshold): BudgetAlert => ({
    id: [id, window, start.toISOString().slice(0, "YYYY-MM-DD".length), limit, threshold].join("_"),
    ...{ budgetId: id, scope, window, limit, threshold },
    ...{ windowStart: start, resetsAt: windowEnd(window, countedAt), used: used[window], at: countedAt },
  }));
  return { budget: { ...budget, alerted: [...alerted, ...reached] }, alerts };
};

/** A budget in the current window, which contains `at`. */
interface ExceededBudget extends Pick<Budget, "scope" | "limit" | "window"> {
  used: number;
  at: Date;
}

/** Returns BUDGET_EXCEEDED with the remaining credits and the end of the window. */
export const exceeded = ({ scope, limit, used, window, at }: ExceededBudget, required: number): DomainError => {
  const remaining = Math.max(0, limit - used);
  const of = scope.type === "metadata" ? `metadata.${scope.name}` : scope.type;
  const message = `the run may cost ${toCredits(required)} credits, and the budget of its ${of} has ${toCredits(remaining)} of ${toCredits(limit)} left`;
  return new DomainError("exhausted", "BUDGET_EXCEEDED", message, {
    scope: of,
    limit: toCredits(limit),
    remaining: toCredits(remaining),
    resetsAt: windowEnd(window, at)?.toISOString() ?? null,
    requiredCredits: toCredits(required),
  });
};

export interface Counting {
  budgets: Budget[];
  alerts: BudgetAlert[];
  /** Absent if no budget covers the run. */
  counted?: CountedBudgets;
}

/**
 * Counts an amount on all budgets that cover a run, or on none.
 * @returns the error for the budget with the fewest credits left, if a budget is exceeded
 */
export const countOn = (
  budgets: readonly Budget[],
  subject: Subject | undefined,
  at: Date,
  millicredits: number,
): Counting | DomainError => {
  const concerned = subject && millicredits > 0 ? budgets.filter(({ scope }) => covers(scope, subject)) : [];
  if (concerned.length === 0) return { budgets: [...budgets], alerts: [] };
  const now = concerned.reduce((latest, { countedAt }) => laterOf(latest, countedAt), at);
  const current = concerned.map((budget) => rolled(budget, now));
  const over = current.filter(({ used, window, limit }) => used[window] + millicredits > limit);
  const remainingOf = ({ limit, used, window }: Budget): number => limit - used[window];
  const [tightest] = over.sort((one, other) => remainingOf(one) - remainingOf(other));
  if (tightest) return exceeded({ ...tightest, used: tightest.used[tightest.window], at: tightest.countedAt }, millicredits);
  const counted = current.map((budget) => withAlerts(add(budget, BUDGET_WINDOWS, millicredits)));
  const byNumber = new Map(counted.map(({ budget }) => [budget.number, budget]));
  return {
    budgets: budgets.map((budget) => byNumber.get(budget.number) ?? budget),
    alerts: counted.flatMap(({ alerts }) => alerts),
    counted: { at: now, budgets: [...byNumber.keys()] },
  };
};

/** Returns an amount to the windows that counted it. Past windows and removed budgets are skipped. */
export const giveBackTo = (budgets: readonly Budget[], { at, budgets: numbers }: CountedBudgets, millicredits: number): Budget[] =>
  budgets.map((budget) => {
    if (millicredits === 0 || !numbers.includes(budget.number)) return budget;
    const windows = BUDGET_WINDOWS.filter((window) => inSameWindow(window, budget.countedAt, at));
    return add(budget, windows, -millicredits);
  });
