import type { Model } from "mongoose";
import type { PendingSignInRecord } from "../records";

export interface PendingSignInStore {
  insert(pending: PendingSignInRecord): Promise<void>;
  /** Returns a pending sign-in that hasn't expired. */
  find(id: string, now: Date): Promise<PendingSignInRecord | null>;
  /** Removes a sign-in, so that it can't be used again. @returns false if it was already used */
  take(id: string): Promise<boolean>;
}

export const createPendingSignInStore = (pending: Model<PendingSignInRecord>): PendingSignInStore => ({
  insert: async (record) => void (await pending.create([record])),
  find: (_id, now) =>
    pending
      .findOne({ _id, expiresAt: { $gt: now } })
      .lean<PendingSignInRecord>()
      .exec(),
  take: async (_id) => (await pending.deleteOne({ _id })).deletedCount > 0,
});
