import type { Account, LowCreditsAlert } from "./account";

/** Share of a month's plan credits. Credits are low if their total is below this share. */
const LOW_SHARE = 0.1;

/** Adds an alert if credits have become low, once per plan month. Held credits count as available. */
export const withLowCredits = (account: Account, at: Date): Account => {
  const { plan, topUp, held, monthlyMillicredits: monthly, period } = account;
  const remaining = plan + topUp + held;
  if (account.lowCreditsIn === period || remaining >= monthly * LOW_SHARE) return account;
  const alert: LowCreditsAlert = { id: `low-credits-${period}`, at, lowCredits: { remaining, monthly } };
  return { ...account, lowCreditsIn: period, budgetAlerts: [...account.budgetAlerts, alert] };
};
