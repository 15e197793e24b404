import { isDuplicateKey } from "@nodeloom/platform";
import type { Model } from "mongoose";
import type { TierRecord } from "../records";

export interface TierStore {
  /** Returns a tier, even if it is being deleted, because its users still have its plan. */
  find(id: string): Promise<TierRecord | null>;
  findMany(ids: string[]): Promise<TierRecord[]>;
  /** Lists assignable tiers by id. */
  list(): Promise<TierRecord[]>;
  put(tier: TierRecord): Promise<void>;
  /** Marks a tier for deletion, so that it can't be assigned. @returns false if the tier doesn't exist */
  markDeleting(id: string, at: Date): Promise<boolean>;
  unmarkDeleting(id: string): Promise<void>;
  /** Removes a tier that is still marked for deletion. */
  removeMarked(id: string): Promise<boolean>;
  /** Lists tiers with a rollout that hasn't ended. */
  rollouts(): Promise<TierRecord[]>;
  /** Stores the cursor of a rollout, or ends it if `cursor` is null. @returns false if there is a newer change */
  advanceRollout(id: string, revision: string, cursor: string | null): Promise<boolean>;
}

export const createTierStore = (tiers: Model<TierRecord>): TierStore => {
  const put = async ({ _id, ...rest }: TierRecord): Promise<void> =>
    void (await tiers.updateOne({ _id }, { $set: rest }, { upsert: true }));
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
    rollouts: () =>
      tiers
        .find({ rolloutRevision: { $ne: null } })
        .sort({ _id: 1 })
        .lean<TierRecord[]>()
        .exec(),
    advanceRollout: async (id, revision, cursor) => {
      const next = cursor === null ? { rolloutRevision: null, rolloutCursor: "" } : { rolloutCursor: cursor };
      return (await tiers.updateOne({ _id: id, rolloutRevision: revision }, { $set: next })).matchedCount > 0;
    },
  };
};
