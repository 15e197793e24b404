import { Schema, type Connection } from "mongoose";

/** Allows an owner to read another owner's file. */
interface Grant {
  key: string;
  ownerId: string;
  createdAt: Date;
}

export interface GrantStore {
  /** Adds grants. Idempotent. */
  add(keys: readonly string[], ownerId: string): Promise<void>;
  /** Returns the keys for which the owner has a grant. */
  among(keys: readonly string[], ownerId: string): Promise<Set<string>>;
  /** Removes the grants for files. */
  removeFor(keys: readonly string[]): Promise<void>;
}

const rows = new Schema<Grant>(
  { key: { type: String, required: true }, ownerId: { type: String, required: true }, createdAt: { type: Date, required: true } },
  { collection: "grants", versionKey: false, strict: "throw" },
);
rows.index({ key: 1, ownerId: 1 }, { unique: true });
// Finds grants when an account is erased.
rows.index({ ownerId: 1 });

export const createGrantStore = (connection: Connection): GrantStore => {
  const model = connection.model<Grant>("Grant", rows);
  return {
    add: async (keys, ownerId) => {
      if (keys.length === 0) return;
      const createdAt = new Date();
      const writes = keys.map((key) => ({
        updateOne: { filter: { key, ownerId }, update: { $setOnInsert: { createdAt } }, upsert: true },
      }));
      await model.bulkWrite(writes, { ordered: false });
    },
    among: async (keys, ownerId) => {
      if (keys.length === 0) return new Set();
      const grants = await model
        .find({ key: { $in: [...keys] }, ownerId }, { _id: 0, key: 1 })
        .lean<Pick<Grant, "key">[]>()
        .exec();
      return new Set(grants.map(({ key }) => key));
    },
    removeFor: async (keys) => void (await model.deleteMany({ key: { $in: [...keys] } }).exec()),
  };
};
