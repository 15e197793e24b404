import { insertOnce } from "@nodeloom/platform";
import { Schema, type Connection, type Model } from "mongoose";
import type { ServiceAccountRecord } from "./records";

const OPTIONS = { versionKey: false, minimize: false, _id: false, id: false } as const;
const text = { type: String, required: true } as const;

const schema = new Schema<ServiceAccountRecord>(
  {
    _id: text,
    ownerId: text,
    slot: { type: Number, required: true },
    name: text,
    capabilities: { type: [String], required: true },
    createdBy: text,
    createdAt: { type: Date, required: true },
  },
  OPTIONS,
)
  // An owner's service accounts, and the bound on their number.
  .index({ ownerId: 1, slot: 1 }, { unique: true })
  // Service accounts that end with a foreign registrant of their maker's address.
  .index({ createdBy: 1 });

export type ServiceAccountChange = Partial<Pick<ServiceAccountRecord, "name" | "capabilities">>;

/** Every method names the owner, except for `listCreatedBy`. */
export interface ServiceAccountStore {
  /** @returns false if the place was taken concurrently */
  insert(account: ServiceAccountRecord): Promise<boolean>;
  find(ownerId: string, id: string): Promise<ServiceAccountRecord | null>;
  /** Oldest first. */
  list(ownerId: string): Promise<ServiceAccountRecord[]>;
  listCreatedBy(personId: string): Promise<ServiceAccountRecord[]>;
  /** @returns the account before the change */
  change(ownerId: string, id: string, change: ServiceAccountChange): Promise<ServiceAccountRecord | null>;
  /** @returns the removed account */
  remove(ownerId: string, id: string): Promise<ServiceAccountRecord | null>;
}

export const createServiceAccountStore = (connection: Connection): ServiceAccountStore => {
  const accounts: Model<ServiceAccountRecord> = connection.model<ServiceAccountRecord>("ServiceAccount", schema, "service-accounts");
  return {
    insert: (account) => insertOnce(accounts.create([account])),
    find: (ownerId, _id) => accounts.findOne({ _id, ownerId }).lean<ServiceAccountRecord>().exec(),
    list: (ownerId) => accounts.find({ ownerId }).sort({ createdAt: 1, _id: 1 }).lean<ServiceAccountRecord[]>().exec(),
    listCreatedBy: (createdBy) => accounts.find({ createdBy }).lean<ServiceAccountRecord[]>().exec(),
    change: (ownerId, _id, change) =>
      accounts.findOneAndUpdate({ _id, ownerId }, { $set: change }, { returnDocument: "before" }).lean<ServiceAccountRecord>().exec(),
    remove: (ownerId, _id) => accounts.findOneAndDelete({ _id, ownerId }).lean<ServiceAccountRecord>().exec(),
  };
};
