export const NOTICE_TITLES = { lowCredits: "Low credits", budgetAlerts: "Alerts of budgets" } as const;

export const NOTICE_HINTS: Readonly<Record<keyof typeof NOTICE_TITLES, string>> = {
  lowCredits: "When less than a tenth of a month’s plan credits is left.",
  budgetAlerts: "When a budget reaches one of its marks.",
};
