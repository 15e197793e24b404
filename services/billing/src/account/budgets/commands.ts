import { DomainError, USUAL_CAPS, type BudgetWindow } from "@nodeloom/kernel";
import { BILLING_LIMITS } from "../../limits";
import { replyWith, refuseWith, type Account, type CommandContext, type Transition } from "../account";
import { isReached, isSameScope, rolled, withAlerts, type Budget, type BudgetAlert, type BudgetScope } from "./budget";

export interface SetBudgetCommand extends CommandContext {
  type: "setBudget";
  /** Id for a new budget of this scope. */
  id: string;
  scope: BudgetScope;
  millicredits: number;
  window: BudgetWindow;
  /** In thousandths of the limit. */
  alertAt: number[];
  /** Maximum number of budgets of the account; absent for the default. */
  maxBudgets?: number | undefined;
}

export interface RemoveBudgetCommand extends CommandContext {
  type: "removeBudget";
  budget: { id: string } | { scope: BudgetScope };
}

export interface AlertsTakenCommand extends CommandContext {
  type: "alertsTaken";
  ids: string[];
}

/** Stores alerts until they are delivered. If there are too many, the newest are kept. */
export const withPendingAlerts = (account: Account, alerts: readonly BudgetAlert[]): Account =>
  alerts.length === 0 ? account : { ...account, budgetAlerts: [...account.budgetAlerts, ...alerts].slice(-BILLING_LIMITS.pendingAlerts) };

const newBudget = ({ id, scope, at }: SetBudgetCommand, number: number): Budget => ({
  ...{ id, number, scope, limit: 0, window: "total", alertAt: [], alerted: [] },
  ...{ used: { day: 0, week: 0, month: 0, total: 0 }, countedAt: at, createdAt: at },
});

/**
 * Creates the budget of a scope, or changes it and keeps its usage. If a threshold is still reached, it stays announced; otherwise it can
 * be announced again.
 */
export const setBudget = (account: Account, command: SetBudgetCommand): Transition<Budget> => {
  const { scope, at, millicredits: limit, window, maxBudgets = USUAL_CAPS.budgets } = command;
  const existing = account.budgets.find((budget) => isSameScope(budget.scope, scope));
  if (!existing && account.budgets.length >= maxBudgets) {
    const message = `an account can have at most ${maxBudgets} budgets: delete one first`;
    return refuseWith(account, new DomainError("precondition", "PRECONDITION_FAILED", message));
  }
  const current = existing ? rolled(existing, at) : newBudget(command, account.lastBudget + 1);
  const alertAt = [...new Set(command.alertAt)].sort((one, other) => one - other);
  const changed: Budget = { ...current, limit, window, alertAt };
  const isSameWindow = current.window === window;
  const { budget, alerts } = withAlerts({
    ...changed,
    alerted: isSameWindow ? current.alerted.filter((threshold) => alertAt.includes(threshold) && isReached(changed, threshold)) : [],
  });
  const next: Account = {
    ...account,
    budgets: existing ? account.budgets.map((one) => (one === existing ? budget : one)) : [...account.budgets, budget],
    lastBudget: Math.max(account.lastBudget, budget.number),
  };
  return replyWith(withPendingAlerts(next, alerts), budget);
};

/** @returns the removed budget, whose usage is no longer counted; null if there is none */
export const removeBudget = (account: Account, { budget: which }: RemoveBudgetCommand): Transition<Budget | null> => {
  const isMeant = (budget: Budget): boolean => ("id" in which ? budget.id === which.id : isSameScope(budget.scope, which.scope));
  const budgetToRemove = account.budgets.find(isMeant);
  if (!budgetToRemove) return replyWith(account, null);
  const budgetAlerts = account.budgetAlerts.filter((alert) => !("budgetId" in alert) || alert.budgetId !== budgetToRemove.id);
  return replyWith({ ...account, budgets: account.budgets.filter((budget) => budget !== budgetToRemove), budgetAlerts }, budgetToRemove);
};

export const alertsTaken = (account: Account, { ids }: AlertsTakenCommand): Transition<null> => {
  const remainingAlerts = account.budgetAlerts.filter(({ id }) => !ids.includes(id));
  return replyWith(remainingAlerts.length === account.budgetAlerts.length ? account : { ...account, budgetAlerts: remainingAlerts }, null);
};
