import { DomainError, stepModels, unavailable, type RunPlan } from "@nodeloom/kernel";
import type { executions } from "@nodeloom/proto";
import { isReady, reachesTier } from "./fallback-models";
import type { CatalogModel } from "./model-catalog";

/** Whether the models of a plan may run for its runner, now, and as it was asked. */

/** @throws DomainError MODEL_TIER_REQUIRED */
export const checkTier = (models: Iterable<CatalogModel>, runner: executions.Runner): void => {
  for (const model of models) {
    if (reachesTier(runner, model)) continue;
    const { internalName, minTier } = model;
    throw new DomainError("forbidden", "MODEL_TIER_REQUIRED", `${internalName} needs the ${minTier} tier`, {
      model: internalName,
      requiredTier: minTier,
      tier: runner.tier,
    });
  }
};

/** @throws DomainError SERVICE_UNAVAILABLE where a model is still to come; asking again before that is no use, and `model` says so */
export const checkReady = ({ steps }: RunPlan, models: ReadonlyMap<string, CatalogModel>): void => {
  const isThere = (name: string): boolean => isReady(models.get(name) ?? {});
  const replaceable = new Set(
    steps
      .map(stepModels)
      .filter((names) => names.some(isThere))
      .flat(),
  );
  for (const { internalName, status } of models.values()) {
    if (status === undefined || isReady({ status }) || replaceable.has(internalName)) continue;
    const { metadata, message } = unavailable(`${internalName} is not ready: ${status.reason}`, status.retryAfterSeconds);
    throw new DomainError("unavailable", "SERVICE_UNAVAILABLE", message, { ...metadata, model: internalName });
  }
};

/** @throws DomainError ASYNC_NOT_SUPPORTED */
export const checkAsync = (models: Iterable<CatalogModel>): void => {
  for (const { internalName, providerKind } of models) {
    if (providerKind === "http-polling") continue;
    throw new DomainError("invalid", "ASYNC_NOT_SUPPORTED", `${internalName} can't run asynchronously`, { model: internalName });
  }
};
