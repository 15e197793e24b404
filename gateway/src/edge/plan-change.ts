import { randomUUID } from "node:crypto";
import { DomainError } from "@nodeloom/kernel";
import type { Logger } from "@nodeloom/platform";
import type { identity } from "@nodeloom/proto";
import { toCallerUser } from "../auth/caller";
import type { Services } from "../clients/services";
import { COMPLETION_CALL_MS, PLAN_CALL_MS } from "../http/limits";

/**
 * Gives an approved user the tier's credits and trial grants, if they are missing: administrators created at deployment have none, and
 * billing can have been unavailable.
 */
export const completePlan = async (services: Pick<Services, "billing" | "identity" | "models">, user: identity.User): Promise<void> => {
  if (!user.approved) return;
  const { account } = await services.billing.getAccount({ userId: user.id }, { deadlineMs: COMPLETION_CALL_MS, reconnectMs: 0 });
  if (!account?.renewsAt) await applyPlan(services, user, user);
};

/**
 * Gives a user's account its tier's monthly credits, and its trial grants once per account. Accounts without approval get nothing. Call it
 * after every update of approval or tier.
 *
 * A real change starts a new month, because a user can return to a tier within one. An update that changes nothing only completes missing
 * parts: a complete account keeps its month.
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
    // A later change of the user has been applied and takes precedence.
    if (error instanceof DomainError && error.reason === "PRECONDITION_FAILED") return;
    throw error;
  }
  // The tier can have changed in the meantime, and its rollout can have missed this user.
  const { user: now } = await services.identity.getUser({ userId: after.id });
  if (!now?.approved || now.tier !== after.tier) return;
  const { monthlyMillicredits: current } = toCallerUser(now).plan;
  if (current === plan.monthlyMillicredits) return;
  await services.billing.setMonthlyCredits({ userId: now.id, tier: now.tier, monthlyMillicredits: current }, { deadlineMs: PLAN_CALL_MS });
};

/** Sets a user's concurrency at executions and starts waiting runs. If executions is unavailable, the user's next run sets the limit. */
export const setConcurrency = async ({ executions }: Pick<Services, "executions">, user: identity.User, logger: Logger): Promise<void> => {
  const { concurrency } = toCallerUser(user).plan;
  try {
    await executions.setConcurrency({ userId: user.id, concurrency }, { deadlineMs: PLAN_CALL_MS, reconnectMs: 0 });
  } catch (error) {
    logger.warn({ reason: (error as Error).message, userId: user.id }, "executions get the changed number of places with the next run");
  }
};

/**
 * Cancels the runs of stopped accounts and applies changed tiers, in the background. If executions is unavailable, it does both by itself
 * later.
 */
export const applyAccountChanges = ({ services, logger }: { services: Pick<Services, "executions">; logger: Logger }): void => {
  services.executions.applyAccountChanges({}).catch((error: unknown) => {
    logger.debug({ reason: (error as Error).message }, "executions applies changes of accounts later");
  });
};
