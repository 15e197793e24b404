import { beyond, escapeRegExp, insertOnce, type ListPosition } from "@nodeloom/platform";
import type { Model } from "mongoose";
import type { PasswordResetRecord, StopRecord, UserRecord } from "../records";

export interface UserPage {
  approved: boolean | undefined;
  /** A part of the address; empty for all users. */
  query: string;
  tier: string | undefined;
  /** The end of the previous page. */
  after: ListPosition | undefined;
  limit: number;
}
export type UserChanges = Partial<Pick<UserRecord, "approved" | "tier" | "role" | "business" | "suspended">>;

/** State that must be unchanged for an update to apply. */
export type UserStanding = Pick<UserRecord, "_id" | "approved" | "suspended">;

export interface UserEnds {
  stop: StopRecord;
  keys: boolean;
}

/** A reset link and the values that it sets. */
export interface RedeemedReset {
  hash: string;
  now: Date;
  passwordHash: string;
  /** True if the link verifies the address for the first time, which ends the keys. */
  provesAddress: boolean;
}

/** A change that makes a user the configured administrator. A new password ends all sessions. */
export type Promotion = Pick<UserRecord, "role" | "tier" | "approved" | "suspended"> & {
  bootstrapHash: string;
  passwordHash?: string;
  /** Null removes the second factor, if the account belonged to another person. */
  secondFactor?: null;
};

export interface UserStore {
  /** @returns false if the address is taken */
  insert(user: UserRecord): Promise<boolean>;
  find(id: string): Promise<UserRecord | null>;
  findByEmail(email: string): Promise<UserRecord | null>;
  /** Users, newest first. */
  page(page: UserPage): Promise<UserRecord[]>;
  /** Applies changes in one update. @returns the user before the update, or null if its standing has changed */
  update(standing: UserStanding, changes: UserChanges, ends: UserEnds | null): Promise<UserRecord | null>;
  /** Replaces a user's tier, unless it is no longer `from`. */
  replaceTier(id: string, from: string, to: string): Promise<void>;
  /** Makes a user the administrator, unless the password has changed. */
  promote(id: string, passwordHashBefore: string, to: Promotion): Promise<void>;
  /** Sets a password and ends all sessions. @returns null if the password has changed since it was read */
  replacePassword(id: string, passwordHashBefore: string, passwordHash: string): Promise<UserRecord | null>;
  /** @returns null if the user doesn't exist */
  endSessions(id: string): Promise<UserRecord | null>;
  /** Ends all sessions and the grants they set up. @returns null if the user doesn't exist */
  endAccess(id: string, now: Date): Promise<UserRecord | null>;
  /** Replaces the reset link. @returns false if the user doesn't exist */
  setPasswordReset(id: string, reset: PasswordResetRecord): Promise<boolean>;
  /** Uses a reset link, which sets the password and ends all sessions. @returns null if the link is used, replaced or expired */
  redeemPasswordReset(id: string, reset: RedeemedReset): Promise<UserRecord | null>;
  anyWithTier(tier: string): Promise<boolean>;
}

const NEW_SESSION_EPOCH = { sessionEpoch: 1 } as const;
const NEXT_REVISION = { revision: 1 } as const;

export const createUserStore = (users: Model<UserRecord>): UserStore => {
  const changed = (filter: object, change: object): Promise<UserRecord | null> =>
    users.findOneAndUpdate(filter, change, { returnDocument: "after" }).lean<UserRecord>().exec();
  return {
    insert: async (user) => {
      return insertOnce(users.create([user]));
    },
    find: (id) => users.findById(id).lean<UserRecord>().exec(),
    findByEmail: (email) => users.findOne({ email }).lean<UserRecord>().exec(),
    page: ({ approved, query, tier, after, limit }) =>
      users
        .find({
          ...(approved === undefined ? {} : { approved }),
          ...(tier === undefined ? {} : { tier }),
          ...(query ? { email: { $regex: escapeRegExp(query) } } : {}),
          ...beyond("createdAt", after, "$lt"),
        })
        .sort({ createdAt: -1, _id: -1 })
        .limit(limit)
        .lean<UserRecord[]>()
        .exec(),
    update: ({ _id, approved, suspended }, changes, ends) => {
      const filter = { _id, approved, suspended };
      const raised = ends ? { ...NEW_SESSION_EPOCH, ...(ends.keys ? { keyEpoch: 1 } : {}) } : {};
      const change = { $set: ends ? { ...changes, stop: ends.stop } : changes, $inc: { ...raised, ...NEXT_REVISION } };
      return users.findOneAndUpdate(filter, change, { returnDocument: "before" }).lean<UserRecord>().exec();
    },
    replaceTier: async (id, from, to) => void (await users.updateOne({ _id: id, tier: from }, { $set: { tier: to }, $inc: NEXT_REVISION })),
    promote: async (id, passwordHashBefore, to) => {
      const raised = to.passwordHash === undefined ? {} : NEW_SESSION_EPOCH;
      await users.updateOne({ _id: id, passwordHash: passwordHashBefore }, { $set: to, $inc: { ...raised, ...NEXT_REVISION } });
    },
    replacePassword: (id, passwordHashBefore, passwordHash) =>
      changed({ _id: id, passwordHash: passwordHashBefore }, { $set: { passwordHash, passwordReset: null }, $inc: NEW_SESSION_EPOCH }),
    endSessions: (id) => changed({ _id: id }, { $inc: NEW_SESSION_EPOCH }),
    endAccess: (id, now) => changed({ _id: id }, { $set: { accessFrom: now }, $inc: NEW_SESSION_EPOCH }),
    setPasswordReset: async (id, reset) => (await users.updateOne({ _id: id }, { $set: { passwordReset: reset } })).matchedCount > 0,
    redeemPasswordReset: (id, { hash, now, passwordHash, provesAddress }) =>
      changed(
        { _id: id, "passwordReset.hash": hash, "passwordReset.expiresAt": { $gt: now } },
        {
          $set: { passwordHash, passwordReset: null, ...(provesAddress ? { emailVerifiedAt: now, accessFrom: now } : {}) },
          $inc: { ...NEW_SESSION_EPOCH, ...(provesAddress ? { keyEpoch: 1 } : {}) },
        },
      ),
    anyWithTier: async (tier) => (await users.exists({ tier })) !== null,
  };
};
