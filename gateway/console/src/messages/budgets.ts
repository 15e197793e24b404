export const BUDGETS_PAGE = {
  appliesTo: "Applies to",
  used: "Used",
  resets: "Resets",
  never: "Never",
  alertsAt: "Alerts at",
  changeBudgetFor: (name: string) => `Change budget for ${name}`,
  intro: "Limit what the runs of a key, a workflow or one of your customers can cost.",
  newBudget: "New budget",
  noBudgetsYet: "No budgets yet",
  emptyHint: "Runs can use all credits of the account. Set a budget for a key, a workflow, or runs whose metadata names a customer.",
};
