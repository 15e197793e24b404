/** Aliases without canaries. */
const none = (): never => {
  throw new Error("no alias has a canary");
};

export const noCanaries = { count: none, release: () => Promise.resolve() };
export const noCanaryWorkflows = { reserveCanaryRun: none, releaseCanaryRun: none };
