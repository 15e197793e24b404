import type { Model } from "@nodeloom/client";

const TIERS = ["free", "pro", "business", "enterprise"];

/** Enabled models, best first: models that the user's tier can run come first, and among them those that take a prompt. */
export const modelsInOrder = (models: readonly Model[], user: { role: string; tier: string }): readonly Model[] => {
  const level = user.role === "admin" ? TIERS.length : TIERS.indexOf(user.tier);
  const mayRun = ({ minTier }: Model): boolean => level < 0 || TIERS.indexOf(minTier) <= level;
  const takesWords = ({ inputSchema: { properties } }: Model): boolean => Object.hasOwn(Object(properties) as object, "prompt");
  const rank = (model: Model): number => Number(!mayRun(model)) * 2 + Number(!takesWords(model));
  return models.filter(({ enabled }) => enabled).toSorted((a, b) => rank(a) - rank(b));
};
