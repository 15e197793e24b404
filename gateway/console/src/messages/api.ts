export const CLIENT = {
  offline: "Can't reach the service. Check your connection: what you typed is kept.",
};

export const PRICES = {
  perRun: "per run",
  perImage: "per image",
  perSecond: "per second",
  perMegapixel: "per megapixel",
  perMillionInputTokens: "per million input tokens",
  perMillionOutputTokens: "per million output tokens",
  credits: (amount: number, text: string) => `${text} ${amount === 1 ? "credit" : "credits"}`,
  fromToCredits: (from: string, to: string) => `from ${from} to ${to} credits`,
  priceNotSet: "price not set",
};

export const WORKFLOW_REMOTE = {
  offlineReason: "can't reach the service",
  theServiceAnswered: (status: number) => `the service answered ${status}`,
  offline: "Can't reach the service.",
  signedOut: "You are signed out.",
};
