import { BUDGET_BOUNDS, BUDGET_WINDOWS, creditLimit } from "@nodeloom/kernel";
import { budgetJson } from "@nodeloom/platform";
import type { billing } from "@nodeloom/proto";
import { z } from "zod";
import type { CallerUser } from "../../auth/caller";
import { credits, MAX_CREDITS, timestamp } from "../../http/schemas";

const THOUSAND = 1_000;
const LEAST_SHARE = 1 / THOUSAND;

const window = z.enum(BUDGET_WINDOWS).meta({ description: "In UTC. Weeks start on Monday; `total` never resets" });
const alertAt = z
  .array(z.number().min(LEAST_SHARE).max(1, "must be at most 1: 0.8 is 80 %"))
  .max(BUDGET_BOUNDS.alerts)
  .meta({ description: "Shares of the credits that send `budget.alert`, each once in a window" });

/** Settings of any budget. */
export const settings = {
  credits: z
    .number()
    .min(0)
    .max(MAX_CREDITS)
    .meta({ description: "Credits that runs can use in a window, held and charged. 0 forbids all paid runs" }),
  window,
  alertAt: alertAt.default([]),
};

const metadataScope = z.object({ name: z.string(), value: z.string() });
const scope = {
  scope: z.enum(["key", "workflow", "metadata"]),
  keyId: z.string().optional(),
  workflowSlug: z.string().optional(),
  metadata: metadataScope.optional(),
};

export const budget = z
  .object({
    id: z.string(),
    ...scope,
    credits,
    window,
    alertAt: z.array(z.number()),
    value: z.string().optional().meta({ description: "Of a default budget: the value that `used` and `remaining` are of" }),
    used: credits.meta({
      description:
        "Credits held and charged in this window, by runs since the budget was created. 0 for a default budget without a `value`",
    }),
    remaining: credits,
    resetsAt: timestamp.nullable().meta({ description: "End of the window; null for `total`" }),
    createdAt: timestamp.nullable(),
  })
  .meta({ id: "Budget" });

export const budgetAlert = z
  .object({
    budgetId: z.string(),
    ...scope,
    threshold: z.number().meta({ description: "Share that was reached" }),
    credits,
    used: credits,
    window,
    windowStart: timestamp,
    resetsAt: timestamp.nullable(),
  })
  .meta({ id: "BudgetAlert" });

export const budgetView = (stored: billing.Budget | undefined): Record<string, unknown> => {
  if (!stored) throw new Error("billing answered without a budget");
  return budgetJson(stored);
};

export const setRequest = (
  { id: userId, plan }: CallerUser,
  to: billing.BudgetScope["scope"],
  body: { credits: number; window: string; alertAt: number[] },
): billing.SetBudgetRequest => ({
  userId,
  scope: { scope: to },
  millicredits: creditLimit(body.credits),
  window: body.window,
  alertAt: body.alertAt.map((share) => Math.max(1, Math.round(share * THOUSAND))),
  maxBudgets: plan.caps.budgets,
});
