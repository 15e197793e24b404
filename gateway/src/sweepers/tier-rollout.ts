import { isRefusal } from "@nodeloom/kernel";
import { startSweeper, type Logger, type Sweeper } from "@nodeloom/platform";
import type { identity } from "@nodeloom/proto";
import { toCallerUser } from "../auth/caller";
import type { Services } from "../clients/services";
import { ROLLOUT_CALL_MS, ROLLOUT_INTERVAL_MS, ROLLOUT_PAGE_USERS, ROLLOUT_PARALLEL } from "../http/limits";

interface Needs {
  identity: Pick<Services["identity"], "claimTierRollout" | "advanceTierRollout" | "listUsers">;
  billing: Pick<Services["billing"], "setMonthlyCredits">;
  executions: Pick<Services["executions"], "setConcurrency">;
}

/** Sets a user's monthly credits at billing from the next renewal on. Accounts without approval get none. */
export const setMonthlyCredits = async ({ billing }: Pick<Needs, "billing">, user: identity.User): Promise<void> => {
  if (!user.approved) return;
  const { monthlyMillicredits } = toCallerUser(user).plan;
  await billing.setMonthlyCredits({ userId: user.id, tier: user.tier, monthlyMillicredits }, { deadlineMs: ROLLOUT_CALL_MS });
};

/** Sets a user's concurrency at executions and starts waiting runs. If executions is unavailable, the user's next run sets the limit. */
export const setConcurrency = async ({ executions }: Pick<Needs, "executions">, user: identity.User, logger: Logger): Promise<void> => {
  const { concurrency } = toCallerUser(user).plan;
  try {
    await executions.setConcurrency({ userId: user.id, concurrency }, { deadlineMs: ROLLOUT_CALL_MS, reconnectMs: 0 });
  } catch (error) {
    logger.warn({ reason: (error as Error).message, userId: user.id }, "executions get the changed number of places with the next run");
  }
};

const inBatches = async <T>(items: readonly T[], size: number, work: (item: T) => Promise<void>): Promise<void> => {
  for (let start = 0; start < items.length; start += size) await Promise.all(items.slice(start, start + size).map(work));
};

export interface TierRolloutOptions {
  services: Needs;
  logger: Logger;
  /** Interval of checks for unfinished changes of other processes. */
  intervalMs?: number;
  pageUsers?: number;
}

/**
 * Applies changes of custom tiers to their users' accounts, page by page: billing stores monthly credits, and executions the concurrency
 * per user. Markup and rate limits are read with every request. Identity stores the progress, so that another gateway can continue.
 * Repeating a page is harmless.
 */
export const startTierRollouts = ({
  services,
  logger,
  intervalMs = ROLLOUT_INTERVAL_MS,
  pageUsers = ROLLOUT_PAGE_USERS,
}: TierRolloutOptions): Sweeper => {
  const give = async (user: identity.User): Promise<void> => {
    try {
      await setMonthlyCredits(services, user);
      await setConcurrency(services, user, logger);
    } catch (error) {
      // A rejection for one account doesn't stop the others.
      if (!isRefusal(error)) throw error;
      logger.error({ err: error, userId: user.id, tier: user.tier }, "an account did not get what changed of its tier");
    }
  };

  /** Applies one page. Returns the position of the next page; undefined after the last page or when the claim has ended. */
  const page = async (rollout: identity.TierRollout, signal: AbortSignal): Promise<identity.TierRollout | undefined> => {
    const query = { query: "", tier: rollout.tierId, limit: pageUsers, cursor: rollout.cursor };
    const { users, nextCursor } = await services.identity.listUsers(query, { signal });
    await inBatches(users, ROLLOUT_PARALLEL, give);
    const next = { ...rollout, cursor: nextCursor };
    const finished = nextCursor === "";
    const { claimed } = await services.identity.advanceTierRollout({ rollout: next, finished });
    return claimed && !finished ? next : undefined;
  };

  const sweep = async (signal: AbortSignal): Promise<void> => {
    while (!signal.aborted) {
      let { rollout } = await services.identity.claimTierRollout({}, { signal });
      if (!rollout) return;
      while (rollout && !signal.aborted) rollout = await page(rollout, signal);
    }
  };

  return startSweeper({ sweep, intervalMs, onFailure: (error) => logger.debug({ err: error }, "tiers are rolled out later") });
};
