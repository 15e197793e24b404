import type { Account, LowCreditsAlert } from "./account";

/** Of a month's plan credits: with less than that left, whatever they are from, credits are low. */
const LOW_SHARE = 0.1;

/** The account with an alert where its credits have become low: one in a month of the plan. What is held is not spent yet. */
export const withLowCredits = (account: Account, at: Date): Account => {
  const { plan, topUp, held, monthlyMillicredits: monthly, period } = account;
  const remaining = plan + topUp + held;
  if (account.lowCreditsIn === period || remaining >= monthly * LOW_SHARE) return account;
  const alert: LowCreditsAlert = { id: `low-credits-${period}`, at, lowCredits: { remaining, monthly } };
  return { ...account, lowCreditsIn: period, budgetAlerts: [...account.budgetAlerts, alert] };
};
