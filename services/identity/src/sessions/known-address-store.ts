import { isDuplicateKey } from "@nodeloom/platform";
import type { Model } from "mongoose";
import type { KnownAddressRecord } from "../records";

/** How long an address stays known that nobody signs in from. */
export const KNOWN_ADDRESS_SECONDS = 180 * 24 * 60 * 60;

export interface KnownAddressStore {
  has(id: string): Promise<boolean>;
  add(id: string, at: Date): Promise<void>;
}

export const createKnownAddressStore = (addresses: Model<KnownAddressRecord>): KnownAddressStore => ({
  has: async (id) => (await addresses.exists({ _id: id })) !== null,
  add: async (id, at) => {
    try {
      await addresses.updateOne({ _id: id }, { $set: { at } }, { upsert: true });
    } catch (error) {
      // Another sign-in has just added it.
      if (!isDuplicateKey(error)) throw error;
    }
  },
});
