import { firstReady, isBaseTier, isTaskName, noneReady, taskOf, tierReaches, type BaseTier } from "@nodeloom/kernel";
import type { models, workflows } from "@nodeloom/proto";
import { ranked } from "./ranking";

/** The first reason why a workflow can't run. */
export interface Obstacle {
  reason: string;
  /** Lowest tier that can run the workflow, if a higher tier is needed. */
  requiredTier?: string;
}

const isReady = ({ status }: models.Model): boolean => (status?.state ?? "ready") === "ready";
const reaches = (tier: BaseTier | undefined, { minTier }: models.Model): boolean =>
  tier === undefined || !isBaseTier(minTier) || tierReaches(tier, minTier);

const needsTier = ({ internalName, minTier }: models.Model): Obstacle => ({
  reason: `${internalName} needs the ${minTier} tier or a higher one`,
  requiredTier: minTier,
});

/**
 * Finds the reason why a model node can't run at a tier (undefined: any tier).
 * @param listed includes disabled models
 */
const obstacleOf = (listed: models.ListModelsResponse, tier: BaseTier | undefined, name: string): Obstacle | undefined => {
  const task = taskOf(name);
  if (task !== undefined) {
    // An unknown task is an error in the graph, which the graph's own checks report.
    if (!isTaskName(task)) return undefined;
    const enabled = ranked(task, { ...listed, models: listed.models.filter((model) => model.enabled) });
    if (firstReady(enabled, tier)) return undefined;
    const above = firstReady(enabled, undefined);
    return { reason: noneReady(task, ranked(task, listed), tier), ...(above && { requiredTier: above.minTier }) };
  }
  const model = listed.models.find(({ internalName }) => internalName === name);
  // The successor replaces the model.
  if (model?.retired && model.successor !== "") return undefined;
  if (!model?.enabled) return { reason: `${name} isn't enabled on this installation` };
  if (!reaches(tier, model)) return needsTier(model);
  return isReady(model) ? undefined : { reason: `${name} isn't ready: ${model.status?.reason ?? "try again later"}` };
};

/** Finds the reason why the first blocked model node of a workflow can't run. A node without a model is unfinished, not blocked. */
export const obstacleIn = (
  listed: models.ListModelsResponse,
  tier: BaseTier | undefined,
  uses: readonly Pick<workflows.GeneratorUse, "model">[],
): Obstacle | undefined => {
  for (const name of new Set(uses.map(({ model }) => model))) {
    const obstacle = name === "" ? undefined : obstacleOf(listed, tier, name);
    if (obstacle) return obstacle;
  }
  return undefined;
};
