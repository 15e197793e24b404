export const CLIENT = {
  cantReachTheServiceCheck: "Can't reach the service. Check your connection: what you typed is kept.",
};

export const PRICES = {
  perRun: "per run",
  perImage: "per image",
  perSecond: "per second",
  perMegapixel: "per megapixel",
  perMillionInputTokens: "per million input tokens",
  perMillionOutputTokens: "per million output tokens",
  credits: (from: string) => `${from} credits`,
  fromToCredits: (from: string, to: string) => `from ${from} to ${to} credits`,
  priceNotSet: "price not set",
};

export const WORKFLOW_REMOTE = {
  cantReachTheService: "can't reach the service",
  theServiceAnswered: (status: number) => `the service answered ${status}`,
  cantReachTheService2: "Can't reach the service.",
  youAreSignedOut: "You are signed out.",
};
