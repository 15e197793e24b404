import { isDuplicateKey } from "@nodeloom/platform";
import type { Model } from "mongoose";
import type { Position } from "../position";
import type { UserRecord } from "../records";

export interface UserPage {
  approved: boolean | undefined;
  /** Part of the address; empty for all. */
  query: string;
  tier: string | undefined;
  /** Where the previous page ended. */
  after: Position | undefined;
  limit: number;
}
export type UserChanges = Partial<Pick<UserRecord, "approved" | "tier" | "role" | "business">>;

export interface UserStore {
  /** False when the address is taken. */
  insert(user: UserRecord): Promise<boolean>;
  find(id: string): Promise<UserRecord | null>;
  findByEmail(email: string): Promise<UserRecord | null>;
  /** Newest first. */
  page(page: UserPage): Promise<UserRecord[]>;
  /** Applies changes in one step and returns the user as it was before; null when there is none. */
  update(id: string, changes: UserChanges): Promise<UserRecord | null>;
  /** Gives a user another tier unless it was given one in the meantime. */
  replaceTier(id: string, from: string, to: string): Promise<void>;
  /** Makes a user an approved admin with a password, unless the password was changed in the meantime. */
  promote(id: string, passwordHashBefore: string, to: Pick<UserRecord, "passwordHash" | "role" | "tier" | "approved">): Promise<void>;
  anyWithTier(tier: string): Promise<boolean>;
}

const escapeRegExp = (text: string): string => text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");

export const createUserStore = (users: Model<UserRecord>): UserStore => ({
  insert: async (user) => {
    try {
      await users.create([user]);
      return true;
    } catch (error) {
      if (isDuplicateKey(error)) return false;
      throw error;
    }
  },
  find: (id) => users.findById(id).lean<UserRecord>().exec(),
  findByEmail: (email) => users.findOne({ email }).lean<UserRecord>().exec(),
  page: ({ approved, query, tier, after, limit }) =>
    users
      .find({
        ...(approved === undefined ? {} : { approved }),
        ...(tier === undefined ? {} : { tier }),
        ...(query ? { email: { $regex: escapeRegExp(query) } } : {}),
        ...(after ? { $or: [{ createdAt: { $lt: after.at } }, { createdAt: after.at, _id: { $lt: after.id } }] } : {}),
      })
      .sort({ createdAt: -1, _id: -1 })
      .limit(limit)
      .lean<UserRecord[]>()
      .exec(),
  update: (id, changes) => users.findOneAndUpdate({ _id: id }, { $set: changes }, { returnDocument: "before" }).lean<UserRecord>().exec(),
  replaceTier: async (id, from, to) => void (await users.updateOne({ _id: id, tier: from }, { $set: { tier: to } })),
  promote: async (id, passwordHashBefore, to) => void (await users.updateOne({ _id: id, passwordHash: passwordHashBefore }, { $set: to })),
  anyWithTier: async (tier) => (await users.exists({ tier })) !== null,
});
