import { isDuplicateKey } from "@nodeloom/platform";
import type { Model } from "mongoose";
import type { TierRecord } from "../records";

/** A tier as it is put: nothing of who carries an earlier change. */
export type NewTier = Omit<TierRecord, "rolloutClaim" | "rolloutUntil">;

/** Which rollout, and whose. */
export interface RolloutClaim {
  id: string;
  revision: string;
  claim: string;
}

export interface TierStore {
  /** The tier, one being deleted included: its users still have its plan. */
  find(id: string): Promise<TierRecord | null>;
  findMany(ids: string[]): Promise<TierRecord[]>;
  /** Tiers that can be assigned, by id. */
  list(): Promise<TierRecord[]>;
  put(tier: NewTier): Promise<void>;
  /** Marks a tier as about to go, so that nobody new gets it. False when there is none. */
  markDeleting(id: string, at: Date): Promise<boolean>;
  unmarkDeleting(id: string): Promise<void>;
  /** Removes a tier that is still marked. */
  removeMarked(id: string): Promise<boolean>;
  /** Takes a tier with a rollout that nobody has claimed, or whose claim is over. */
  claimRollout(claim: string, now: Date, until: Date): Promise<TierRecord | null>;
  /** Moves a claimed rollout on, or ends it (null). False when the claim or the change is another by now. */
  advanceRollout(claimed: RolloutClaim, to: { cursor: string; until: Date } | null): Promise<boolean>;
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
        // Two upserts of a new tier may both try to insert; the later one then finds it.
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
