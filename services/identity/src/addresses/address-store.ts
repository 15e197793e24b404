import type { Notice } from "@nodeloom/kernel";
import type { Model } from "mongoose";
import type { UserRecord } from "../records";
import type { StoredLink } from "../sessions/link-tokens";

export type Muted = Partial<Record<Notice, boolean>>;

export interface AddressStore {
  /** Makes a link the one that proves the address; false where it is proven already, or there is no such user. */
  setVerification(id: string, link: StoredLink): Promise<boolean>;
  /** Uses up the link of this hash; false when it does not work (any more). */
  verify(id: string, hash: string, now: Date): Promise<boolean>;
  /** Sets some, leaves the others; the user as it is then, or null when there is none. */
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
