/**
 * Applies changed custom tiers to the accounts of their users for the relay: billing stores the monthly credits, and the queues the places.
 * Markup and rate limits are read with every request. Identity stores the progress. Repeating a page is harmless.
 */
import { isRefusal } from "@nodeloom/kernel";
import type { Logger, RelayedRows } from "@nodeloom/platform";
import type { identity as proto } from "@nodeloom/proto";
import type { Billing, Identity } from "../clients";
import type { Queue } from "../lifecycle/queue";
import { checkEach } from "../record/look";
import { TIMING } from "../run/timing";

const PAGE_USERS = 50;
/** Maximum pages per turn, so that a stopping process waits only shortly. */
const PAGES = 20;

export interface RelayedTierRolloutsOptions {
  identity: Pick<Identity, "listTierRollouts" | "advanceTierRollout" | "listUsers">;
  billing: Pick<Billing, "setMonthlyCredits">;
  queue: Pick<Queue, "resize">;
  logger: Logger;
  /** Users per page. */
  pageUsers?: number;
}

export const createRelayedTierRollouts = (options: RelayedTierRolloutsOptions): RelayedRows<proto.TierRollout> => {
  const { identity, billing, queue, logger, pageUsers = PAGE_USERS } = options;

  const update = async ({ id: userId, tier, approved, plan }: proto.User): Promise<true> => {
    if (!plan) throw new Error("identity answered without a plan");
    const { monthlyMillicredits, concurrency } = plan;
    // Accounts without approval have no credits.
    if (approved) await billing.setMonthlyCredits({ userId, tier, monthlyMillicredits }, { deadlineMs: TIMING.rolloutCall });
    await queue.resize(userId, concurrency);
    return true;
  };

  /** Applies one page. @returns the position of the next page; undefined after the last one or a newer change */
  const applyPage = async (rollout: proto.TierRollout): Promise<proto.TierRollout | undefined> => {
    const query = { query: "", tier: rollout.tierId, limit: pageUsers, cursor: rollout.cursor };
    const { users, nextCursor } = await identity.listUsers(query);
    await checkEach(users, {
      check: update,
      // An account that can't be changed doesn't stop the others.
      failed: ({ id: userId, tier }, error) => {
        if (!isRefusal(error)) throw error;
        logger.error({ err: error, userId, tier }, "an account did not get the changes of its tier");
      },
    });
    const next = { ...rollout, cursor: nextCursor };
    const isLast = nextCursor === "";
    const { claimed: isCurrent } = await identity.advanceTierRollout({ rollout: next, finished: isLast });
    return isCurrent && !isLast ? next : undefined;
  };

  return {
    name: "tier rollouts",
    page: async (_limit, after) => (after ? [] : (await identity.listTierRollouts({})).rollouts),
    signatureOf: ({ tierId, revision }) => JSON.stringify([tierId, revision]),
    staleMs: 0,
    settle: async ([rollout]) => {
      let next = rollout;
      for (let pages = 0; next && pages < PAGES; pages += 1) next = await applyPage(next);
      return true;
    },
  };
};
