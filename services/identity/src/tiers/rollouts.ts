import { randomUUID } from "node:crypto";
import type { TierStore } from "./tier-store";

/**
 * Duration of a claim. It is longer than a page of users takes, so that two workers don't process the same page. After a worker crashes,
 * the rest is delayed by at most this time.
 */
const CLAIM_MS = 30_000;

/** A change of a custom tier that is being applied to its users' accounts. */
export interface Rollout {
  tierId: string;
  revision: string;
  /** Next page of users; empty for the first page. */
  cursor: string;
  /** Token of the claim. */
  claim: string;
}

export interface Rollouts {
  /** Claims a rollout that no other worker has. Returns null if there is none. */
  claim(): Promise<Rollout | null>;
  /**
   * Stores the cursor and extends the claim, or ends the rollout if `finished` is true. @returns false if the claim has expired or the tier
   * has changed again. The worker must then stop; it can claim the rollout again
   */
  advance(rollout: Rollout, finished: boolean): Promise<boolean>;
}

export interface RolloutsOptions {
  store: Pick<TierStore, "claimRollout" | "advanceRollout" | "releaseRollout">;
  clock?: () => number;
}

export const createRollouts = ({ store, clock = Date.now }: RolloutsOptions): Rollouts => {
  const until = (): Date => new Date(clock() + CLAIM_MS);
  return {
    claim: async () => {
      const claim = randomUUID();
      const tier = await store.claimRollout(claim, new Date(clock()), until());
      return tier?.rolloutRevision ? { tierId: tier._id, revision: tier.rolloutRevision, cursor: tier.rolloutCursor, claim } : null;
    },
    advance: async ({ tierId, revision, cursor, claim }, finished) => {
      const to = finished ? null : { cursor, until: until() };
      if (await store.advanceRollout({ id: tierId, revision, claim }, to)) return true;
      await store.releaseRollout(tierId, claim);
      return false;
    },
  };
};
