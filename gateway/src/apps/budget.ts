import { APP_METADATA, DomainError, toCredits } from "@nodeloom/kernel";
import type { billing } from "@nodeloom/proto";
import type { Services } from "../clients/services";
import type { App } from "./apps";
import { endOfDay } from "./visits";

/**
 * What an app's runs may take of its owner's credits in a day: a budget of the metadata that they carry, which the hold of each run
 * counts on.
 */

type Billing = Pick<Services["billing"], "listBudgets" | "setBudget">;

const DAY = "day";
/** Announced once in a day, in thousandths, unless the owner has chosen. */
const ALERT_AT = [800];

/** What is left of an app's budget today. */
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

/** What is left today, as far as it is counted. */
export const todayOf = async (billing: Billing, app: App): Promise<Today> => {
  const { dailyMillicredits: millicredits } = app.settings;
  const budget = await find(billing, app);
  const used = budget?.window === DAY ? budget.usedMillicredits : 0;
  return { millicredits, remaining: Math.max(0, millicredits - used), resetsAt: endOfDay() };
};

/**
 * Has the budget that the app says, before a run is held on it: it is made with the app's first run, follows a changed app, and comes
 * back where it was removed.
 * @throws BUDGET_EXCEEDED where the account has no place for it
 */
export const ensureBudget = async (billing: Billing, app: App): Promise<void> => {
  const { dailyMillicredits: millicredits } = app.settings;
  const known = await find(billing, app);
  if (known?.window === DAY && known.millicredits === millicredits) return;
  const request = { userId: app.ownerId, scope: scopeOf(app), millicredits, window: DAY, alertAt: known?.alertAt ?? ALERT_AT };
  await billing.setBudget(request).catch((error: unknown) => {
    if (!(error instanceof DomainError) || error.reason !== "PRECONDITION_FAILED") throw error;
    throw new DomainError("exhausted", "BUDGET_EXCEEDED", "the app's owner has too many budgets to have one for it", {
      scope: `metadata.${APP_METADATA.app}`,
      limit: toCredits(millicredits),
      remaining: 0,
      resetsAt: null,
    });
  });
};
