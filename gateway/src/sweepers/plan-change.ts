import { randomUUID } from "node:crypto";
import { DomainError } from "@nodeloom/kernel";
import type { identity } from "@nodeloom/proto";
import { toCallerUser } from "../auth/caller";
import type { Services } from "../clients/services";
import { COMPLETION_CALL_MS } from "../http/limits";
import { setMonthlyCredits } from "./tier-rollout";

/**
 * Gives an approved user the tier's credits and trial grants if no update ever has: an administrator that was made at the
 * start of the deployment has had none, and billing may have been away at the last one.
 */
export const completePlan = async (services: Pick<Services, "billing" | "identity" | "models">, user: identity.User): Promise<void> => {
  if (!user.approved) return;
  const { account } = await services.billing.getAccount({ userId: user.id }, { deadlineMs: COMPLETION_CALL_MS, reconnectMs: 0 });
  if (!account?.renewsAt) await applyPlan(services, user, user);
};

/**
 * Gives a user's account what the user's tier has: monthly credits and, once in its life, the trial grants. An account
 * that is not approved has none. Must follow every update of a user's approval or tier.
 *
 * A real change begins a new month, because a user may come back to a tier within one. Repeating an update that changes
 * nothing (a retry after billing was away) only completes what was left undone: an account that has it all keeps its month.
 */
export const applyPlan = async (
  services: Pick<Services, "billing" | "identity" | "models">,
  before: identity.User,
  after: identity.User,
): Promise<void> => {
  const { plan } = toCallerUser(after);
  const monthlyMillicredits = after.approved ? plan.monthlyMillicredits : 0;
  const models = after.approved ? (await services.models.listModels({ includeDisabled: false })).models : [];
  const change = {
    userId: after.id,
    tier: after.tier,
    monthlyMillicredits,
    grants: models
      .filter(({ trialRuns }) => trialRuns > 0)
      .map(({ internalName, trialRuns }) => ({ model: internalName, total: trialRuns, remaining: trialRuns })),
    reference: randomUUID(),
    unlessSet: before.tier === after.tier && before.approved === after.approved,
    userRevision: after.revision,
  };
  try {
    await services.billing.setPlan(change);
  } catch (error) {
    // A later change of the user has arrived already, and holds.
    if (error instanceof DomainError && error.reason === "PRECONDITION_FAILED") return;
    throw error;
  }
  // A tier that was changed in between may have been rolled out without this user.
  const { user: now } = await services.identity.getUser({ userId: after.id });
  if (now && now.tier === after.tier && toCallerUser(now).plan.monthlyMillicredits !== plan.monthlyMillicredits) {
    await setMonthlyCredits(services, now);
  }
};
