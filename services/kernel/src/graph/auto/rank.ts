import { isBaseTier, tierReaches, type BaseTier } from "../../plans";

/** What decides which model a task becomes. */
export interface TaskCandidate {
  internalName: string;
  /** Tasks that it does. */
  tasks: readonly string[];
  /** provider, local or sandbox. */
  runsAt: string;
  minTier: string;
  /** ready, needs-key, downloading or away. */
  status?: { state: string; reason: string } | undefined;
}

/** Without an order of the administrators: what providers run before what the machine itself runs, and the sandbox last. */
const PLACES = ["provider", "local", "sandbox"];

/** The models that do a task, the best first: those of the order that was set, then all others. */
export const rankedFor = <T extends TaskCandidate>(task: string, models: readonly T[], order: readonly string[] = []): T[] => {
  const rank = ({ internalName, runsAt }: T): number => {
    const set = order.indexOf(internalName);
    return set >= 0 ? set : order.length + PLACES.indexOf(runsAt);
  };
  return models
    .filter(({ tasks }) => tasks.includes(task))
    .sort((one, other) => rank(one) - rank(other) || (one.internalName < other.internalName ? -1 : 1));
};

const reaches = (tier: BaseTier | undefined, { minTier }: TaskCandidate): boolean =>
  tier === undefined || !isBaseTier(minTier) || tierReaches(tier, minTier);

/** The first that can run now, for a tier; undefined: for any. */
export const firstReady = <T extends TaskCandidate>(ranked: readonly T[], tier: BaseTier | undefined): T | undefined =>
  ranked.find((model) => (model.status?.state ?? "ready") === "ready" && reaches(tier, model));

/** Why none of a task's models can run now, and what to do. @param ranked all that there are, also those that need a key */
export const noneReady = (task: string, ranked: readonly TaskCandidate[], tier: BaseTier | undefined): string => {
  const stateOf = (state: string): TaskCandidate | undefined =>
    ranked.find((model) => (model.status?.state ?? "ready") === state && reaches(tier, model));
  const above = ranked.find((model) => (model.status?.state ?? "ready") === "ready");
  const [coming, away, keyless] = ["downloading", "away", "needs-key"].map(stateOf);
  const hints = [
    ...(coming ? [`${coming.internalName} is on its way: ${coming.status?.reason ?? "wait for it"}`] : []),
    ...(above ? [`${above.internalName} is ready from the ${above.minTier} tier on`] : []),
    ...(keyless ? [`an administrator can switch on ${keyless.internalName}: ${keyless.status?.reason ?? "it needs a key"}`] : []),
    ...(away ? [`${away.internalName} is away: ${away.status?.reason ?? "try again later"}`] : []),
  ];
  return `no model for auto:${task} is ready: ${hints.length > 0 ? hints.join("; ") : "this installation has none; name a model"}`;
};
