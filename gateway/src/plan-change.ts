import { randomUUID } from "node:crypto";
import type { identity } from "@nodeloom/proto";
import { toCallerUser } from "./caller";
import type { Services } from "./clients";
import { setMonthlyCredits } from "./tier-rollout";

const month = (at: Date): string => at.toISOString().slice(0, "yyyy-mm".length);

/**
 * Names a plan change for billing, which applies each name once. A real change gets a name of its own, because a user may
 * come back to a tier within a month. Repeating an update that changes nothing (a retry after billing was away) gets a
 * name that is the same all month, so that it completes what was left undone and gives nothing twice.
 */
const reference = (before: identity.User, after: identity.User, monthlyMillicredits: number): string => {
  const changed = before.tier !== after.tier || before.approved !== after.approved;
  return ["plan", after.id, after.tier, monthlyMillicredits, changed ? randomUUID() : month(new Date())].join(":");
};

/**
 * Gives a user's account what the user's tier has: monthly credits and, once in its life, the trial grants. An account
 * that is not approved has none. Must follow every update of a user's approval or tier.
 */
export const applyPlan = async (
  services: Pick<Services, "billing" | "identity" | "models">,
  before: identity.User,
  after: identity.User,
): Promise<void> => {
  const { plan } = toCallerUser(after);
  const monthlyMillicredits = after.approved ? plan.monthlyMillicredits : 0;
  const models = after.approved ? (await services.models.listModels({ includeDisabled: false })).models : [];
  await services.billing.setPlan({
    userId: after.id,
    tier: after.tier,
    monthlyMillicredits,
    grants: models
      .filter(({ trialRuns }) => trialRuns > 0)
      .map(({ internalName, trialRuns }) => ({ model: internalName, total: trialRuns, remaining: trialRuns })),
    reference: reference(before, after, monthlyMillicredits),
  });
  // A tier that was changed in between may have been rolled out without this user.
  const { user: now } = await services.identity.getUser({ userId: after.id });
  if (now && now.tier === after.tier && toCallerUser(now).plan.monthlyMillicredits !== plan.monthlyMillicredits) {
    await setMonthlyCredits(services, now);
  }
};
