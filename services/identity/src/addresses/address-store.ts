import type { Notice } from "@nodeloom/kernel";
import type { Model } from "mongoose";
import type { StoredLink, UserRecord } from "../records";

export type MutedNotices = Partial<Record<Notice, boolean>>;

export interface AddressStore {
  /** Replaces the verification link. @returns false if the address is already verified, or the user doesn't exist */
  setVerification(id: string, link: StoredLink): Promise<boolean>;
  /** Uses up a link, found by its hash. @returns false if the link is unknown, used, replaced or expired */
  verify(id: string, hash: string, now: Date): Promise<boolean>;
  /** Changes only the listed notices. @returns the updated user, or null if the user doesn't exist */
  mute(id: string, muted: MutedNotices): Promise<UserRecord | null>;
}

export const createAddressStore = (users: Model<UserRecord>): AddressStore => {
  const changed = async (filter: object, change: object): Promise<boolean> => (await users.updateOne(filter, change)).matchedCount > 0;
  return {
    setVerification: (_id, verification) => changed({ _id, emailVerifiedAt: null }, { $set: { verification } }),
    verify: (_id, hash, now) =>
      changed(
        { _id, "verification.hash": hash, "verification.expiresAt": { $gt: now } },
        { $set: { emailVerifiedAt: now, verification: null } },
      ),
    mute: (_id, muted) => {
      const $set = Object.fromEntries(Object.entries(muted).map(([notice, isMuted]) => [`mutedNotices.${notice}`, isMuted]));
      return users.findOneAndUpdate({ _id }, { $set }, { returnDocument: "after" }).lean<UserRecord>().exec();
    },
  };
};
