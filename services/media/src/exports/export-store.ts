import { Schema, type Connection } from "mongoose";

export interface StoredExport {
  ownerId: string;
  blob: string;
  bytes: number;
  isPartial: boolean;
  createdAt: Date;
  expiresAt: Date;
}

type Row = { _id: string; pending?: string | null; at: Date } & Partial<Omit<StoredExport, "ownerId">>;

/** Blobs that an owner's row refers to. */
export type Blobs = Pick<Row, "blob" | "pending">;

const rows = new Schema<Row>(
  {
    _id: String,
    /** Blob that will be written next. */
    pending: String,
    at: { type: Date, required: true },
    blob: String,
    bytes: Number,
    isPartial: Boolean,
    createdAt: Date,
    expiresAt: Date,
  },
  { collection: "exports", versionKey: false, minimize: false, strict: "throw" },
);
// Finds expired rows.
rows.index({ at: 1 });

export type ExportStore = ReturnType<typeof createExportStore>;

/** Stores one row per owner. A blob's name is stored before its bytes are, so a crash can't leave an unreferenced blob. */
export const createExportStore = (connection: Connection) => {
  const model = connection.model<Row>("Export", rows);
  const before = { returnDocument: "before", upsert: true } as const;
  return {
    /** Records the blob that will be written. @returns the previous blobs of the row */
    begin: (ownerId: string, pending: string, at: Date): Promise<Blobs | null> =>
      model.findOneAndUpdate({ _id: ownerId }, { $set: { pending, at } }, before).lean<Row>().exec(),

    /** Makes the pending blob the archive. @returns the previous blobs of the row, or null if this blob is no longer pending */
    finish: ({ ownerId, ...stored }: StoredExport): Promise<Blobs | null> =>
      model
        .findOneAndUpdate({ _id: ownerId, pending: stored.blob }, { $set: { ...stored, pending: null } }, { returnDocument: "before" })
        .lean<Row>()
        .exec(),

    find: async (ownerId: string, now: Date): Promise<StoredExport | undefined> => {
      const row = await model
        .findOne({ _id: ownerId, expiresAt: { $gt: now } })
        .lean<Row>()
        .exec();
      if (!row?.blob) return undefined;
      const { blob, bytes = 0, isPartial = false, createdAt = row.at, expiresAt = row.at } = row;
      return { ownerId, blob, bytes, isPartial, createdAt, expiresAt };
    },

    blobsOf: (ownerId: string): Promise<Blobs | null> => model.findOne({ _id: ownerId }).lean<Row>().exec(),

    /** Owners whose rows are older than a time. */
    begunBefore: async (before: Date, limit: number): Promise<string[]> => {
      const expired = await model
        .find({ at: { $lt: before } }, { _id: 1 })
        .limit(limit)
        .lean<Pick<Row, "_id">[]>()
        .exec();
      return expired.map(({ _id }) => _id);
    },

    /** Removes a row, if it still refers to these blobs. */
    remove: async (ownerId: string, { blob, pending }: Blobs): Promise<boolean> => {
      const same = { _id: ownerId, blob: blob ?? null, pending: pending ?? null };
      return (await model.deleteOne(same as object).exec()).deletedCount === 1;
    },
  };
};
