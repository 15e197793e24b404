import { randomUUID } from "node:crypto";
import type { TierStore } from "./tier-store";

/**
 * How long a claim lasts that nobody extends. Longer than a page of users may take, so that a page that is slow is not
 * done by two at once; whoever dies with a claim delays the rest by no more than this.
 */
const CLAIM_MS = 30_000;

/** A change of a custom tier on its way to its users' accounts. */
export interface Rollout {
  tierId: string;
  /** Names the change. */
  revision: string;
  /** Of the next page of users; empty at the start. */
  cursor: string;
  /** Proves the claim. */
  claim: string;
}

export interface Rollouts {
  /** A change that has not arrived everywhere and that nobody else carries; null when there is none. */
  claim(): Promise<Rollout | null>;
  /**
   * Notes where to go on, and extends the claim; `finished` ends it. False when the claim had ended: by time, or because
   * the tier was changed again. Whoever hears it must stop, and may claim again.
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
