/** Formats budgets for API responses and webhooks. */
import { toCredits } from "@nodeloom/kernel";
import type { billing } from "@nodeloom/proto";

const THOUSAND = 1_000;
const iso = (date: Date | undefined): string | null => date?.toISOString() ?? null;

/** The runs that count: `scope`, and the name or value to which it applies. */
const scopeJson = (scope: billing.BudgetScope["scope"] | undefined): Record<string, unknown> => {
  switch (scope?.$case) {
    case "keyId":
      return { scope: "key", keyId: scope.value };
    case "workflowSlug":
      return { scope: "workflow", workflowSlug: scope.value };
    case "metadata":
      return { scope: "metadata", metadata: { name: scope.value.name, value: scope.value.value } };
    default:
      throw new Error("a budget without a scope");
  }
};

export const budgetJson = (budget: billing.Budget): Record<string, unknown> => ({
  id: budget.id,
  ...scopeJson(budget.scope?.scope),
  credits: toCredits(budget.millicredits),
  window: budget.window,
  alertAt: budget.alertAt.map((share) => share / THOUSAND),
  ...(budget.ofValue === undefined ? {} : { value: budget.ofValue }),
  used: toCredits(budget.usedMillicredits),
  remaining: toCredits(Math.max(0, budget.millicredits - budget.usedMillicredits)),
  resetsAt: iso(budget.resetsAt),
  createdAt: iso(budget.createdAt),
});

/** A budget's state at the time when spending reached a threshold. */
export const budgetAlertJson = (alert: billing.BudgetAlert): Record<string, unknown> => ({
  budgetId: alert.budgetId,
  ...scopeJson(alert.scope?.scope),
  threshold: alert.threshold / THOUSAND,
  credits: toCredits(alert.millicredits),
  used: toCredits(alert.usedMillicredits),
  window: alert.window,
  windowStart: iso(alert.windowStart),
  resetsAt: iso(alert.resetsAt),
});
