import { randomUUID } from "node:crypto";
import type { TierStore } from "./tier-store";

/**
 * Duration of a claim. Longer than a page of users takes, so that two workers don't process one page. A crashed worker delays the rest by
 * at most this long.
 */
const CLAIM_MS = 30_000;

/** A change of a custom tier on its way to its users' accounts. */
export interface Rollout {
  tierId: string;
  /** Identifies the change. */
  revision: string;
  /** Next page of users; empty at the start. */
  cursor: string;
  /** Proves the claim. */
  claim: string;
}

export interface Rollouts {
  /** Claims a rollout that no other worker has; null if there is none. */
  claim(): Promise<Rollout | null>;
  /**
   * Stores the cursor and extends the claim; `finished` ends it. @returns false if the claim has expired, or the tier was changed again.
   * The worker must then stop, and can claim again
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
