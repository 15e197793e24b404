/** Converts budgets to and from messages. */

import { BUDGET_WINDOWS, invalidRequest, type BudgetWindow } from "@nodeloom/kernel";
import { billing as proto } from "@nodeloom/proto";
import type { BudgetAlert, BudgetScope } from "./account/budgets/budget";
import type { PresentBudget } from "./billing";
import type { LowCreditsAlert } from "./account/account";
import { windowEnd } from "./account/budgets/windows";

const scopeMessage = ({ type, name, value }: BudgetScope): proto.BudgetScope => {
  switch (type) {
    case "key":
      return { scope: { $case: "keyId", value } };
    case "workflow":
      return { scope: { $case: "workflowSlug", value } };
    case "metadata":
      return { scope: { $case: "metadata", value: { name, value } } };
  }
};

/** @throws INVALID_REQUEST for a missing scope */
export const scopeOf = (message: proto.BudgetScope | undefined): BudgetScope => {
  const scope = message?.scope;
  switch (scope?.$case) {
    case "keyId":
      return { type: "key", name: "", value: scope.value };
    case "workflowSlug":
      return { type: "workflow", name: "", value: scope.value };
    case "metadata":
      return { type: "metadata", ...scope.value };
    default:
      throw invalidRequest([{ path: "scope", message: "is required" }]);
  }
};

/** @throws INVALID_REQUEST */
export const windowOf = (window: string): BudgetWindow => {
  const knownWindow = BUDGET_WINDOWS.find((one) => one === window);
  if (!knownWindow) throw invalidRequest([{ path: "window", message: `must be one of: ${BUDGET_WINDOWS.join(", ")}` }]);
  return knownWindow;
};

/** @param budget budget with current usage */
export const budgetMessage = ({ id, scope, limit, window, alertAt, used, countedAt, createdAt, ofValue }: PresentBudget): proto.Budget =>
  proto.Budget.fromPartial({
    ...{ id, scope: scopeMessage(scope), millicredits: limit, window, alertAt, usedMillicredits: used[window], createdAt },
    ...{ resetsAt: windowEnd(window, countedAt) ?? undefined, ofValue },
  });

export const alertMessage = (pending: BudgetAlert | LowCreditsAlert): proto.BudgetAlert => {
  if ("lowCredits" in pending) {
    const { id, at, lowCredits } = pending;
    const lowCreditsMessage = { remainingMillicredits: lowCredits.remaining, monthlyMillicredits: lowCredits.monthly };
    return proto.BudgetAlert.fromPartial({ id, at, lowCredits: lowCreditsMessage });
  }
  const { scope, resetsAt, limit, used, ...alert } = pending;
  return proto.BudgetAlert.fromPartial({
    ...alert,
    ...{ scope: scopeMessage(scope), millicredits: limit, usedMillicredits: used, resetsAt: resetsAt ?? undefined },
  });
};
