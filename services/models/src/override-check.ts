import { didYouMean, fallbackListProblems, invalidRequest, TIERS, type BaseTier, type Issue, type Price } from "@nodeloom/kernel";
import { pricingProblem } from "./pricing";
import type { RegisteredModel } from "./registry";

/** Settings of an administrator for a model. If a member is absent, the file's value applies. */
export interface Override {
  enabled?: boolean;
  price?: Price;
  minTier?: BaseTier;
  /** Fallback models, in order. */
  fallback?: readonly string[];
}

/** Returns problems of a list of fallbacks before it applies. */

const fallbackIssues = (
  model: RegisteredModel,
  fallback: readonly string[],
  knownModels: ReadonlyMap<string, RegisteredModel>,
): Issue[] => {
  const problems = fallbackListProblems(fallback, model.internalName);
  if (problems.length > 0) return problems.map((message) => ({ path: "fallback", message }));
  return fallback.flatMap((name, index): Issue[] => {
    const other = knownModels.get(name);
    const path = `fallback.${index}`;
    if (!other) return [{ path, message: `there is no model ${name}${didYouMean(name, [...knownModels.keys()])}` }];
    return other.modality === model.modality ? [] : [{ path, message: `${name} generates ${other.modality}, not ${model.modality}` }];
  });
};

/** @throws DomainError INVALID_REQUEST with every problem */
export const checkChange = (
  model: RegisteredModel,
  { enabled, price, minTier, fallback }: Override,
  knownModels: ReadonlyMap<string, RegisteredModel>,
): void => {
  const issues = fallback ? fallbackIssues(model, fallback, knownModels) : [];
  if (enabled && model.missing.length > 0) issues.push({ path: "enabled", message: `${model.missing.join(", ")} is not set` });
  if (enabled && model.price === null && price === undefined) issues.push({ path: "enabled", message: "it has no price yet: set one" });
  if (minTier !== undefined && !TIERS.includes(minTier)) issues.push({ path: "minTier", message: `must be one of: ${TIERS.join(", ")}` });
  const problem = price && pricingProblem(price, model.inputSchema);
  if (problem) issues.push({ path: "price", message: problem });
  if (issues.length > 0) throw invalidRequest(issues);
};
