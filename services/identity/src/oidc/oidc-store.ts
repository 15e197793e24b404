import { insertOnce } from "@nodeloom/platform";
import type { Model } from "mongoose";
import type { OidcIdentityRecord, OidcSignInRecord, UserRecord } from "../records";
import { NO_PASSWORD } from "../users/passwords";

export interface OidcStore {
  find(id: string): Promise<OidcIdentityRecord | null>;
  findOfUser(userId: string): Promise<OidcIdentityRecord | null>;
  /** @returns false if the identity or the user already has a link */
  link(identity: OidcIdentityRecord): Promise<boolean>;
  /** @returns false if the user had no link */
  unlink(userId: string): Promise<boolean>;
  /** Records whether the claims make the user an administrator. */
  setAdmin(id: string, admin: boolean): Promise<void>;
  /**
   * Takes over an account with an unverified address. Removes its password, ends its sessions and keys, and marks the address as verified.
   * Returns null if the address has been verified by now.
   */
  takeOver(userId: string, at: Date): Promise<UserRecord | null>;
  setVerified(userId: string, at: Date): Promise<void>;

  begin(signIn: OidcSignInRecord): Promise<void>;
  /** Removes and returns a pending sign-in; null if it doesn't exist. */
  take(id: string): Promise<OidcSignInRecord | null>;
}

export interface OidcModels {
  users: Model<UserRecord>;
  identities: Model<OidcIdentityRecord>;
  signIns: Model<OidcSignInRecord>;
}

export const createOidcStore = ({ users, identities, signIns }: OidcModels): OidcStore => ({
  find: (id) => identities.findById(id).lean<OidcIdentityRecord>().exec(),
  findOfUser: (userId) => identities.findOne({ userId }).lean<OidcIdentityRecord>().exec(),
  link: (identity) => insertOnce(identities.create([identity])),
  unlink: async (userId) => (await identities.deleteOne({ userId })).deletedCount > 0,
  setAdmin: async (_id, admin) => void (await identities.updateOne({ _id }, { $set: { admin } })),
  takeOver: (_id, emailVerifiedAt) =>
    users
      .findOneAndUpdate(
        { _id, emailVerifiedAt: null, bootstrapHash: null },
        {
          $set: { passwordHash: NO_PASSWORD, passwordReset: null, emailVerifiedAt, accessFrom: emailVerifiedAt },
          $inc: { sessionEpoch: 1, keyEpoch: 1 },
        },
        { returnDocument: "after" },
      )
      .lean<UserRecord>()
      .exec(),
  setVerified: async (_id, emailVerifiedAt) => void (await users.updateOne({ _id, emailVerifiedAt: null }, { $set: { emailVerifiedAt } })),

  begin: async (signIn) => void (await signIns.create([signIn])),
  take: (_id) => signIns.findOneAndDelete({ _id }).lean<OidcSignInRecord>().exec(),
});
