import { insertOnce } from "@nodeloom/platform";
import { Schema, type Connection, type Model } from "mongoose";
import type { ServiceAccountRecord } from "./records";
import { OPTIONS, text } from "../schema-fields";

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
  // Finds an owner's service accounts and bounds their number.
  .index({ ownerId: 1, slot: 1 }, { unique: true })
  // Finds service accounts that end when their creator's address turns out to be another person's.
  .index({ createdBy: 1 });

export type ServiceAccountChange = Partial<Pick<ServiceAccountRecord, "name" | "capabilities">>;

/** Every method except `listCreatedBy` requires the owner. */
export interface ServiceAccountStore {
  /** @returns false if another request took the slot */
  insert(account: ServiceAccountRecord): Promise<boolean>;
  find(ownerId: string, id: string): Promise<ServiceAccountRecord | null>;
  /** Service accounts, oldest first. */
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
