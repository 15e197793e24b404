import { isDuplicateKey } from "@nodeloom/platform";
import type { Model } from "mongoose";
import type { TierRecord } from "../records";

/** A tier without a rollout's claim. Storing it doesn't affect an existing claim. */
export type NewTier = Omit<TierRecord, "rolloutClaim" | "rolloutUntil">;

export interface RolloutClaim {
  id: string;
  revision: string;
  claim: string;
}

export interface TierStore {
  /** Returns a tier, even if it is being deleted, because its users still have its plan. */
  find(id: string): Promise<TierRecord | null>;
  findMany(ids: string[]): Promise<TierRecord[]>;
  /** Lists assignable tiers by id. */
  list(): Promise<TierRecord[]>;
  put(tier: NewTier): Promise<void>;
  /** Marks a tier for deletion, so that it can't be assigned. @returns false if the tier doesn't exist */
  markDeleting(id: string, at: Date): Promise<boolean>;
  unmarkDeleting(id: string): Promise<void>;
  /** Removes a tier that is still marked for deletion. */
  removeMarked(id: string): Promise<boolean>;
  /** Claims a rollout that is unclaimed or whose claim has expired. */
  claimRollout(claim: string, now: Date, until: Date): Promise<TierRecord | null>;
  /** Advances a claimed rollout, or ends it if `to` is null. @returns false if there is a newer claim or change */
  advanceRollout(claim: RolloutClaim, to: { cursor: string; until: Date } | null): Promise<boolean>;
  releaseRollout(id: string, claim: string): Promise<void>;
}

const FREE = { rolloutClaim: null, rolloutUntil: null } as const;

export const createTierStore = (tiers: Model<TierRecord>): TierStore => {
  const put = async ({ _id, ...rest }: NewTier): Promise<void> => void (await tiers.updateOne({ _id }, { $set: rest }, { upsert: true }));
  return {
    find: (id) => tiers.findById(id).lean<TierRecord>().exec(),
    findMany: async (ids) => (ids.length === 0 ? [] : tiers.find({ _id: { $in: ids } }).lean<TierRecord[]>()),
    list: () => tiers.find({ deletingAt: null }).sort({ _id: 1 }).lean<TierRecord[]>().exec(),
    put: (tier) =>
      put(tier).catch((error: unknown) => {
        // If two upserts create the same tier, the later one finds it on retry.
        if (isDuplicateKey(error)) return put(tier);
        throw error;
      }),
    markDeleting: async (id, at) => (await tiers.updateOne({ _id: id }, { $set: { deletingAt: at } })).matchedCount > 0,
    unmarkDeleting: async (id) => void (await tiers.updateOne({ _id: id }, { $set: { deletingAt: null } })),
    removeMarked: async (id) => (await tiers.deleteOne({ _id: id, deletingAt: { $ne: null } })).deletedCount > 0,
    claimRollout: (claim, now, until) =>
      tiers
        .findOneAndUpdate(
          { rolloutRevision: { $ne: null }, $or: [{ rolloutUntil: null }, { rolloutUntil: { $lte: now } }] },
          { $set: { rolloutClaim: claim, rolloutUntil: until } },
          { returnDocument: "after" },
        )
        .lean<TierRecord>()
        .exec(),
    advanceRollout: async ({ id, revision, claim }, to) => {
      const next = to ? { rolloutCursor: to.cursor, rolloutUntil: to.until } : { rolloutRevision: null, rolloutCursor: "", ...FREE };
      const { matchedCount } = await tiers.updateOne({ _id: id, rolloutRevision: revision, rolloutClaim: claim }, { $set: next });
      return matchedCount > 0;
    },
    releaseRollout: async (id, claim) => void (await tiers.updateOne({ _id: id, rolloutClaim: claim }, { $set: FREE })),
  };
};
