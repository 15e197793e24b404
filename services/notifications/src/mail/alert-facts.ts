import { toCredits } from "@nodeloom/kernel";
import type { billing } from "@nodeloom/proto";
import type { AlertFacts } from "./mails";

const PER_PERCENT = 10;

const subjectOf = (scope: billing.BudgetScope["scope"] | undefined): Pick<AlertFacts, "scope" | "subject"> => {
  switch (scope?.$case) {
    case "keyId":
      return { scope: "key", subject: scope.value };
    case "workflowSlug":
      return { scope: "workflow", subject: scope.value };
    case "metadata":
      return { scope: "metadata", subject: `${scope.value.name} = ${scope.value.value}` };
    default:
      throw new Error("a budget without a scope");
  }
};

/** Returns the facts of a budget alert that an email states. */
export const alertFacts = (alert: billing.BudgetAlert): AlertFacts => ({
  ...subjectOf(alert.scope?.scope),
  percent: alert.threshold / PER_PERCENT,
  credits: toCredits(alert.millicredits),
  used: toCredits(alert.usedMillicredits),
  window: alert.window as AlertFacts["window"],
  resetsAt: alert.resetsAt?.toISOString() ?? null,
});
