/** budgets/: what runs of a key, of a workflow or with a value of metadata may take of an account's credits, as pure functions. */

import { BUDGET_WINDOWS, DomainError, toCredits, type BudgetWindow } from "@nodeloom/kernel";
import { inSameWindow, windowEnd, windowStart } from "./windows";

/** Which runs count on a budget. `name` is that of a member of metadata, and empty for the others; `value` a key's id, a workflow's slug, or what that member says. */
export type BudgetScope = { type: "key" | "workflow"; name: ""; value: string } | { type: "metadata"; name: string; value: string };

/** What of a run decides on which budgets it counts. */
export interface Subject {
  /** Empty: a session's. */
  keyId: string;
  /** Empty: a model by itself. */
  workflowSlug: string;
  metadata: Readonly<Record<string, string>>;
}

/**
 * One budget, as its account keeps it. Amounts are milli-credits. Its use is counted in all kinds of windows at once, so that
 * another kind may be chosen at any time; each count is of the window in which `countedAt` lies.
 */
export interface Budget {
  id: string;
  /** Among the budgets that the account has ever had: what holds name it by. */
  number: number;
  scope: BudgetScope;
  limit: number;
  window: BudgetWindow;
  /** Shares of the limit that are announced, in thousandths, ascending. */
  alertAt: number[];
  /** Those that were announced in this window. */
  alerted: number[];
  /** Held and captured, since the window began or the budget was made. */
  used: Record<BudgetWindow, number>;
  countedAt: Date;
  createdAt: Date;
}

/** That a budget's use has reached a share of its limit. */
export interface BudgetAlert {
  /** The same for the same share of the same limit in the same window. */
  id: string;
  budgetId: string;
  scope: BudgetScope;
  window: BudgetWindow;
  windowStart: Date;
  resetsAt: Date | null;
  limit: number;
  used: number;
  /** In thousandths. */
  threshold: number;
  at: Date;
}

/** On which budgets calls of a hold count, by their numbers, and when they began to. */
export interface Counted {
  at: Date;
  budgets: number[];
}

const THOUSAND = 1_000;

export const isSameScope = (one: BudgetScope, other: BudgetScope): boolean =>
  one.type === other.type && one.name === other.name && one.value === other.value;

export const covers = ({ type, name, value }: BudgetScope, { keyId, workflowSlug, metadata }: Subject): boolean => {
  switch (type) {
    case "key":
      return value === keyId;
    case "workflow":
      return value === workflowSlug;
    case "metadata":
      return Object.hasOwn(metadata, name) && metadata[name] === value;
  }
};

const laterOf = (one: Date, other: Date): Date => (one > other ? one : other);

/** The budget at a time: what was used in windows that are over is gone. Of clocks that differ the latest holds. */
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

/** A budget of nothing forbids runs, and is reached by none. */
export const isReached = ({ limit, used, window }: Budget, threshold: number): boolean =>
  limit > 0 && used[window] * THOUSAND >= limit * threshold;

/** The alerts that a budget owes, and the budget with them noted. */
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

const exceeded = ({ scope, limit, used, window, countedAt }: Budget, required: number): DomainError => {
  const remaining = Math.max(0, limit - used[window]);
  const of = scope.type === "metadata" ? `metadata.${scope.name}` : scope.type;
  const message = `the run may cost ${toCredits(required)} credits, and the budget of its ${of} has ${toCredits(remaining)} of ${toCredits(limit)} left`;
  return new DomainError("exhausted", "BUDGET_EXCEEDED", message, {
    scope: of,
    limit: toCredits(limit),
    remaining: toCredits(remaining),
    resetsAt: windowEnd(window, countedAt)?.toISOString() ?? null,
    requiredCredits: toCredits(required),
  });
};

export interface Counting {
  budgets: Budget[];
  alerts: BudgetAlert[];
  /** Absent where no budget covers the run. */
  counted?: Counted;
}

/**
 * Counts an amount on every budget that covers a run, or on none.
 * @returns the refusal of the budget with the least left, where one is exceeded
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
  const left = ({ limit, used, window }: Budget): number => limit - used[window];
  const [tightest] = over.sort((one, other) => left(one) - left(other));
  if (tightest) return exceeded(tightest, millicredits);
  const counted = current.map((budget) => withAlerts(add(budget, BUDGET_WINDOWS, millicredits)));
  const byNumber = new Map(counted.map(({ budget }) => [budget.number, budget]));
  return {
    budgets: budgets.map((budget) => byNumber.get(budget.number) ?? budget),
    alerts: counted.flatMap(({ alerts }) => alerts),
    counted: { at: now, budgets: [...byNumber.keys()] },
  };
};

/** Gives back to the windows in which it was counted; those that are over have nothing to give. Budgets that are gone are left out. */
export const giveBackTo = (budgets: readonly Budget[], { at, budgets: numbers }: Counted, millicredits: number): Budget[] =>
  budgets.map((budget) => {
    if (millicredits === 0 || !numbers.includes(budget.number)) return budget;
    const windows = BUDGET_WINDOWS.filter((window) => inSameWindow(window, budget.countedAt, at));
    return add(budget, windows, -millicredits);
  });
