import { isBaseTier, tierReaches, type BaseTier } from "../../access/plans";

/** Properties used to rank a model for a task. */
export interface TaskCandidate {
  internalName: string;
  tasks: readonly string[];
  /** `provider`, `local` or `sandbox`. */
  runsAt: string;
  minTier: string;
  /** `state` is ready, needs-key, downloading or away. */
  status?: { state: string; reason: string } | undefined;
}

/** Order used if administrators set none: hosted providers first, the sandbox last. */
const PLACES = ["provider", "local", "sandbox"];

/** Ranks a task's models, best first: models in the administrators' order, then all others. */
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

/** Reason why a model can't run now for a tier (undefined: any tier), or undefined. */
export const whyNot = (model: TaskCandidate, tier: BaseTier | undefined): string | undefined => {
  if (!reaches(tier, model)) return `needs the ${model.minTier} tier or a higher one`;
  const { state = "ready", reason = "" } = model.status ?? {};
  return state === "ready" ? undefined : `isn't ready: ${reason || state}`;
};

/** @param tier undefined for any tier */
export const firstReady = <T extends TaskCandidate>(ranked: readonly T[], tier: BaseTier | undefined): T | undefined =>
  ranked.find((model) => whyNot(model, tier) === undefined);

/**
 * Explains why no model of a task can run now, and the next step.
 * @param ranked all models of the task, including models that need a key
 */
export const noneReady = (task: string, ranked: readonly TaskCandidate[], tier: BaseTier | undefined): string => {
  const stateOf = (state: string): TaskCandidate | undefined =>
    ranked.find((model) => (model.status?.state ?? "ready") === state && reaches(tier, model));
  const above = ranked.find((model) => (model.status?.state ?? "ready") === "ready");
  const [coming, unavailable, keyless] = ["downloading", "away", "needs-key"].map(stateOf);
  const hints = [
    ...(coming ? [`${coming.internalName} is being downloaded: ${coming.status?.reason ?? "wait for it"}`] : []),
    ...(above ? [`${above.internalName} needs the ${above.minTier} tier or a higher one`] : []),
    ...(keyless ? [`an administrator can enable ${keyless.internalName}: ${keyless.status?.reason ?? "it needs a key"}`] : []),
    ...(unavailable ? [`${unavailable.internalName} is unavailable: ${unavailable.status?.reason ?? "try again later"}`] : []),
  ];
  return `no model for auto:${task} is ready: ${hints.length > 0 ? hints.join("; ") : "this installation has none: choose a model"}`;
};

const MAX_REASONS = 3;

/**
 * Explains why no model of a task can run a node, and the next step. The first reasons are listed, each with one model and the number of
 * others that share it; those of ready models come first, because settings can change them.
 */
export const noneAble = (
  task: string,
  models: readonly { model: string; reason: string }[],
  { candidates, none }: { candidates: readonly { model: string; excluded?: string }[]; none?: string },
): string => {
  const unready = new Set(candidates.filter(({ excluded }) => excluded !== undefined).map(({ model }) => model));
  const readyFirst = [...models].sort((one, other) => Number(unready.has(one.model)) - Number(unready.has(other.model)));
  const byReason = new Map<string, string[]>();
  for (const { model, reason } of readyFirst) byReason.set(reason, [...(byReason.get(reason) ?? []), model]);
  const texts = [...byReason].map(
    ([reason, [first, ...more]]) => `${first}${more.length > 0 ? ` and ${more.length} more` : ""}: ${reason}`,
  );
  const others = [...byReason.values()].slice(MAX_REASONS).flat().length;
  const reasons = [...texts.slice(0, MAX_REASONS), ...(others > 0 ? [`${others} more have other reasons`] : [])].join("; ");
  const count = models.filter(({ model }) => unready.has(model)).length;
  const change = count > 0 ? "Change the node's settings, make one of them ready" : "Change the node's settings";
  const advice = count > 0 && count === models.length ? "Make one of them ready" : change;
  return `no model for ${task} can run: ${reasons || (none ?? "there is none")}. ${advice}${count > 0 ? ", connect a model server" : ""}, or choose another model`;
};
