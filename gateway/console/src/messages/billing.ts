import { plural } from "./forms";
export const BALANCE_PAGE = {
  intro: "Credits you can spend. Runs use plan credits first, then top-up credits.",
  history: "History",
  awaitsApproval: "You can buy credits once your account is approved.",
  notSold: "Credits aren't sold here. Ask an administrator for more.",
};

export const BOOKED = {
  creditsAdded: (credits: string) => `${credits} were added to your account.`,
  thankYou: "Thank you",
  paymentReceived: "Stripe received your payment",
  paymentReceivedHint:
    "Your credits appear once Stripe confirms the payment: within moments for cards, within days for bank transfers. You can leave this page.",
};

export const BUY_CREDITS = {
  amountRange: (minCredits: string, maxCredits: string) => `Enter a whole number from ${minCredits} to ${maxCredits}.`,
  buyCredits: "Buy credits",
  testMode: "Test mode: no card is charged, but the credits are added.",
  suggestedAmounts: "Suggested amounts",
  payWithStripe: "Pay with Stripe",
  payAmount: (dollars: string) => `Pay ${dollars} with Stripe`,
  stripeHint: "Stripe processes the payment and sends the receipt. Top-up credits don't expire.",
};

export const HISTORY_PAGE = {
  topUps: "Top-ups",
  refundsAndCorrections: "Refunds and corrections",
  monthlyPlanCredits: "Monthly plan credits",
  expiredPlanCredits: "Expired plan credits",
  heldByARun: "Held by a run",
  spentByARun: "Spent by a run",
  returnedByARun: "Returned by a run",
  type: "Type",
  trialRuns: (count: number) => `${plural(count, "trial run", "trial runs")}`,
  held: "Held",
  note: "Note",
  history: "History",
  intro: "Every change of your credits, newest first. They add up to your balance.",
  dailySpendingCsv: "Daily spending (CSV)",
  allTypes: "All types",
  transactions: "Transactions",
  noTransactionsYet: "No transactions yet.",
  noneOfType: "No transactions of this type yet.",
};

export const PLANS_PAGE = {
  creditsPerMonth: "Credits per month",
  priceOfARun: "Price of a run, times the provider's",
  times: (markup: number) => `${markup} ×`,
  exampleImage: "Credits for an image that costs 0.04 USD",
  concurrentRuns: "Concurrent runs",
  unlimited: "Unlimited",
  fileStorage: "File storage",
  requestsPerMinute: "Requests per minute",
  yes: "Yes",
  no: "No",
  creditHint: "One credit is one US cent. Monthly credits expire at the end of the month. Top-up credits don't expire.",
  customized: (own: string) => `Your plan, ${own}, was customized by an administrator.`,
  comparePlans: "Compare plans",
  yourPlan: "Your plan",
  administrators: (givesCredits: boolean) =>
    `Administrators change plans${givesCredits ? " and add credits" : ""}. You can't buy a plan here. Some models require a plan: their pages name it and show your price.`,
  forUsdEach: (creditPriceUsd: number) => `for ${creditPriceUsd} USD each.`,
  buyMoreCredits: "Buy more credits",
};
