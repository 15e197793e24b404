import { isDuplicateKey } from "@nodeloom/platform";
import type { Model } from "mongoose";
import type { KnownAddressRecord } from "../records";
import { nameOf } from "../networks";

/** Time for which an address stays known after its last sign-in. */
export const KNOWN_ADDRESS_SECONDS = 180 * 24 * 60 * 60;

/** Key of an account's known addresses. */
export const knownAddressesOf = (pepper: string, email: string): string => nameOf(pepper, "known addresses of an account", email);

export interface KnownAddressStore {
  has(id: string): Promise<boolean>;
  /** @param account key from `knownAddressesOf` */
  add(id: string, at: Date, account: string): Promise<void>;
}

export const createKnownAddressStore = (addresses: Model<KnownAddressRecord>): KnownAddressStore => ({
  has: async (id) => (await addresses.exists({ _id: id })) !== null,
  add: async (id, at, account) => {
    try {
      await addresses.updateOne({ _id: id }, { $set: { at, account } }, { upsert: true });
    } catch (error) {
      // A concurrent sign-in already added the address.
      if (!isDuplicateKey(error)) throw error;
    }
  },
});
