export const BALANCE_CARDS = {
  planCredits: "Plan credits",
  plan: (tier: string) => `${tier} plan`,
  renews: "renews",
  topUpCredits: "Top-up credits",
  debtHint: "A payment was refunded after you spent its credits.",
  topUpHint: "Spent after plan credits. They don't expire.",
  heldByRuns: "Held by runs",
  heldHint: "Returned when the run doesn't use them.",
  ofLeft: (total: number) => `of ${total} left`,
};

export const BUDGET_BAR = {
  each: (credits: string, window: string) => `${credits} credits ${window} each`,
  ofCredits: (used: string, credits: string, window: string) => `${used} of ${credits} credits ${window}`,
};

export const BUDGET_DIALOG = {
  appliesTo: "Applies to",
  metadataValue: "Runs with a metadata value",
  anApiKey: "An API key",
  aWorkflow: "A workflow",
  budgetFor: (name: string) => `Budget for ${name}`,
  newBudget: "New budget",
  budgetSaved: "Budget saved.",
  budgetRemoved: "Budget removed.",
  limitHint: ". A run that could exceed the budget doesn't start.",
  period: "Period",
  zero: "0 stops all work that costs credits.",
  periodHint: "Times are UTC. Weeks start on Monday.",
  alertAt: "Alert at (%)",
  alertsHint: "Up to five percentages, such as 50, 80. Nodeloom sends budget.alert once per period to webhooks that subscribe to it.",
  eachValue: "* gives every value without a budget of its own this much.",
  noAlerts: "A default budget sends no alerts.",
  alertsInvalid: "Enter up to five numbers from 0.1 to 100.",
};

export const BUDGETS = {
  perValue: "Default",
  each: (name: string) => `each ${name}`,
  app: "App",
  perDay: "per day",
  perWeek: "per week",
  perMonth: "per month",
  inTotal: "in total",
  deletedKey: "a key that is gone",
};

export const DELIVERIES = {
  sendAgain: "Send again",
  nextAttempt: "next attempt",
  attempts: "Attempts",
  attempt: "Attempt",
  response: "Response",
};

export const ERROR_PAGES = {
  pageNotFound: "Page not found",
  goToWorkflows: "Go to workflows",
  notFoundHint: "Check the address. The page may have been deleted.",
  loadFailed: "Couldn't load this page",
};

export const LOGO = {
  nodeloom: "Nodeloom",
};

export const PAGE_CODE = {
  loadFailed: "Couldn't load the page.",
};

export const PAGED = {
  nothingHereYet: "Nothing here yet",
  firstPage: "First page",
  nextPage: "Next page",
};

export const CODE_FIELD = {
  hint: "Enter the six digits from your authenticator app, or a recovery code.",
  code: "Code",
};

export const OUTCOME = {
  expired: "The sign-in expired or continued in another window. Try again.",
  denied: "The provider denied the sign-in.",
  invalidResponse: "The provider's response is invalid. Try again. If it keeps failing, ask an administrator to check the log.",
  emailNotVerified: "Your provider hasn't verified your email address.",
  domainNotAllowed: "Email addresses of your domain can't sign in here.",
  linkedElsewhere: "This sign-in is linked to another account. Ask an administrator which one.",
  providerUnavailable: "Can't reach the provider. Try again in a moment.",
  suspended: "Your account is suspended. Contact an administrator.",
  failed: "The sign-in failed. Try again.",
};

export const PASSWORD_FIELD = {
  newPassword: "New password",
  hint: "At least 10 characters. Avoid common passwords.",
  noPassword: "Your account has no password. Sign in again, then delete the account within ten minutes.",
};

export const PROVIDER_BUTTON = {
  or: "or",
  signInWith: (name: string) => `Sign in with ${name}`,
};
