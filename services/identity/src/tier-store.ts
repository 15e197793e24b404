import { isDuplicateKey } from "@nodeloom/platform";
import type { Model } from "mongoose";
import type { TierRecord } from "./records";

export interface TierStore {
  /** The tier, one being deleted included: its users still have its plan. */
  find(id: string): Promise<TierRecord | null>;
  findMany(ids: string[]): Promise<TierRecord[]>;
  /** Tiers that can be assigned, by id. */
  list(): Promise<TierRecord[]>;
  put(tier: TierRecord): Promise<void>;
  /** Marks a tier as about to go, so that nobody new gets it. False when there is none. */
  markDeleting(id: string, at: Date): Promise<boolean>;
  unmarkDeleting(id: string): Promise<void>;
  /** Removes a tier that is still marked. */
  removeMarked(id: string): Promise<boolean>;
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
        // Two upserts of a new tier may both try to insert; the later one then finds it.
        if (isDuplicateKey(error)) return put(tier);
        throw error;
      }),
    markDeleting: async (id, at) => (await tiers.updateOne({ _id: id }, { $set: { deletingAt: at } })).matchedCount > 0,
    unmarkDeleting: async (id) => void (await tiers.updateOne({ _id: id }, { $set: { deletingAt: null } })),
    removeMarked: async (id) => (await tiers.deleteOne({ _id: id, deletingAt: { $ne: null } })).deletedCount > 0,
  };
};
