import { APP_METADATA, DomainError, toCredits } from "@nodeloom/kernel";
import type { billing } from "@nodeloom/proto";
import type { Services } from "../clients/services";
import type { App } from "./apps";
import { endOfDay } from "./visits";

/** Daily budget of an app: a budget on the metadata of its runs, checked when each run is held. */

type Billing = Pick<Services["billing"], "listBudgets" | "setBudget">;

const DAY = "day";
/** Default alert threshold per day, in thousandths. */
const ALERT_AT = [800];

export interface Today {
  millicredits: number;
  remaining: number;
  resetsAt: Date;
}

const scopeOf = ({ slug }: App): billing.BudgetScope => ({ scope: { $case: "metadata", value: { name: APP_METADATA.app, value: slug } } });

const find = async (billing: Billing, app: App): Promise<billing.Budget | undefined> => {
  const { budgets } = await billing.listBudgets({ userId: app.ownerId });
  return budgets.find(
    ({ scope }) =>
      scope?.scope?.$case === "metadata" && scope.scope.value.name === APP_METADATA.app && scope.scope.value.value === app.slug,
  );
};

export const todayOf = async (billing: Billing, app: App): Promise<Today> => {
  const { dailyMillicredits: millicredits } = app.settings;
  const budget = await find(billing, app);
  const used = budget?.window === DAY ? budget.usedMillicredits : 0;
  return { millicredits, remaining: Math.max(0, millicredits - used), resetsAt: endOfDay() };
};

/**
 * Creates or updates an app's budget before a run is held on it. The app's first run creates the budget, changes to the app update it, and
 * the next run restores a deleted one.
 * @param maxBudgets of the owner's tier
 * @throws BUDGET_EXCEEDED if the account can't have more budgets
 */
export const ensureBudget = async (billing: Billing, app: App, maxBudgets: number): Promise<void> => {
  const { dailyMillicredits: millicredits } = app.settings;
  const budget = await find(billing, app);
  if (budget?.window === DAY && budget.millicredits === millicredits) return;
  const request = { userId: app.ownerId, scope: scopeOf(app), millicredits, window: DAY, alertAt: budget?.alertAt ?? ALERT_AT, maxBudgets };
  await billing.setBudget(request).catch((error: unknown) => {
    if (!(error instanceof DomainError) || error.reason !== "PRECONDITION_FAILED") throw error;
    throw new DomainError("exhausted", "BUDGET_EXCEEDED", "the app's owner has the maximum number of budgets, so the app can't get one", {
      scope: `metadata.${APP_METADATA.app}`,
      limit: toCredits(millicredits),
      remaining: 0,
      resetsAt: null,
    });
  });
};
