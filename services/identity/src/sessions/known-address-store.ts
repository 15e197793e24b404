import { isDuplicateKey } from "@nodeloom/platform";
import type { Model } from "mongoose";
import type { KnownAddressRecord } from "../records";
import { nameOf } from "./networks";

/** How long an address stays known that nobody signs in from. */
export const KNOWN_ADDRESS_SECONDS = 180 * 24 * 60 * 60;

/** What the known addresses of an account are named by. */
export const knownAddressesOf = (pepper: string, email: string): string => nameOf(pepper, "known addresses of an account", email);

export interface KnownAddressStore {
  has(id: string): Promise<boolean>;
  /** @param account of `knownAddressesOf` */
  add(id: string, at: Date, account: string): Promise<void>;
}

export const createKnownAddressStore = (addresses: Model<KnownAddressRecord>): KnownAddressStore => ({
  has: async (id) => (await addresses.exists({ _id: id })) !== null,
  add: async (id, at, account) => {
    try {
      await addresses.updateOne({ _id: id }, { $set: { at, account } }, { upsert: true });
    } catch (error) {
      // Another sign-in has just added it.
      if (!isDuplicateKey(error)) throw error;
    }
  },
});
