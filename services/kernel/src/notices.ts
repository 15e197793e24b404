/** Emails that users get without requesting them and can switch off. */
export const NOTICES = ["lowCredits", "budgetAlerts", "retiringModels"] as const;
export type Notice = (typeof NOTICES)[number];

export const isNotice = (name: string): name is Notice => (NOTICES as readonly string[]).includes(name);
