import { LIMITS, RETENTION } from "@nodeloom/kernel";
import { Schema, type Connection, type Model } from "mongoose";
import { date, optionalDate, OPTIONS, text } from "../schema-fields";
import type { DeletedKeyRecord, KeyRecord } from "./records";

/** Names of deleted keys, for lists that still contain their ids: usage, audit, decisions. No value of a key is kept. */

const DAY_SECONDS = 86_400;

const deletedKeySchema = new Schema<DeletedKeyRecord>(
  {
    _id: text,
    userId: text,
    madeBy: { type: String },
    name: text,
    start: text,
    preset: text,
    capabilities: { type: [String], required: true },
    createdAt: date,
    lastUsedAt: optionalDate,
    expiresAt: optionalDate,
    deletedAt: date,
  },
  OPTIONS,
)
  // Finds an owner's deleted keys and bounds their number.
  .index({ userId: 1, deletedAt: -1 })
  // Finds keys to erase with the person who created them.
  .index({ madeBy: 1 }, { sparse: true })
  .index({ deletedAt: 1 }, { expireAfterSeconds: RETENTION.deletedKeys.days * DAY_SECONDS });

export interface DeletedKeyStore {
  /** Keeps what lists show of keys, before they are deleted. Repeating it is safe. */
  keep(keys: readonly KeyRecord[], at: Date): Promise<void>;
  /** Deleted keys of an owner, newest first. @param ids only these keys */
  list(userId: string, ids?: readonly string[]): Promise<DeletedKeyRecord[]>;
}

/** Filter for the keys of an owner. @param ids only these keys */
export const ofOwner = (userId: string, ids?: readonly string[]) => ({ userId, ...(ids ? { _id: { $in: [...ids] } } : {}) });

const keptParts = (key: KeyRecord, deletedAt: Date): DeletedKeyRecord => {
  const { _id, userId, madeBy, name, start, preset, capabilities, createdAt, lastUsedAt, expiresAt } = key;
  const maker = madeBy === undefined ? {} : { madeBy };
  return { _id, userId, ...maker, name, start, preset, capabilities, createdAt, lastUsedAt, expiresAt, deletedAt };
};

export const createDeletedKeyModel = (connection: Connection): Model<DeletedKeyRecord> =>
  connection.model<DeletedKeyRecord>("DeletedKey", deletedKeySchema, "deleted-keys");

export const createDeletedKeyStore = (deletedKeys: Model<DeletedKeyRecord>): DeletedKeyStore => {
  const newest = (userId: string, ids?: readonly string[]) => deletedKeys.find(ofOwner(userId, ids)).sort({ deletedAt: -1, _id: -1 });

  /** Removes the keys of an owner that were deleted before the newest ones. */
  const dropOldest = async (userId: string): Promise<void> => {
    const [oldest] = await newest(userId).skip(LIMITS.deletedKeys).limit(1).lean<DeletedKeyRecord[]>().exec();
    if (oldest) await deletedKeys.deleteMany({ userId, deletedAt: { $lte: oldest.deletedAt } });
  };

  return {
    keep: async (keys, at) => {
      if (keys.length === 0) return;
      const replacements = keys.map((key) => keptParts(key, at));
      await deletedKeys.bulkWrite(
        replacements.map((replacement) => ({ replaceOne: { filter: { _id: replacement._id }, replacement, upsert: true } })),
        { ordered: false },
      );
      for (const userId of new Set(keys.map((key) => key.userId))) await dropOldest(userId);
    },
    list: (userId, ids) => newest(userId, ids).limit(LIMITS.deletedKeys).lean<DeletedKeyRecord[]>().exec(),
  };
};
