import { NOTICES } from "../../../messages/account";
export const NOTICE_TITLES = {
  lowCredits: NOTICES.lowCredits,
  budgetAlerts: NOTICES.budgetAlerts,
  retiringModels: NOTICES.retiringModels,
} as const;

export const NOTICE_HINTS: Readonly<Record<keyof typeof NOTICE_TITLES, string>> = {
  lowCredits: NOTICES.creditsLow,
  budgetAlerts: NOTICES.budgetAlert,
  retiringModels: NOTICES.modelRetiring,
};
