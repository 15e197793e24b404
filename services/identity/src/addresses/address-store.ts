import type { Notice } from "@nodeloom/kernel";
import type { Model } from "mongoose";
import type { UserRecord } from "../records";
import type { StoredLink } from "../sessions/link-tokens";

export type Muted = Partial<Record<Notice, boolean>>;

export interface AddressStore {
  /** Replaces the verification link. @returns false if the address is already verified, or the user doesn't exist */
  setVerification(id: string, link: StoredLink): Promise<boolean>;
  /** Uses up a link by hash. @returns false if it doesn't work (any more) */
  verify(id: string, hash: string, now: Date): Promise<boolean>;
  /** Changes the given notices only. @returns the updated user; null if there is none */
  mute(id: string, muted: Muted): Promise<UserRecord | null>;
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
