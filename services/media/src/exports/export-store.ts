import { Schema, type Connection } from "mongoose";

/** An owner's archive. */
export interface StoredExport {
  ownerId: string;
  /** Name of its bytes in the blob store. */
  blob: string;
  bytes: number;
  isPartial: boolean;
  createdAt: Date;
  expiresAt: Date;
}

type Row = { _id: string; pending?: string | null; at: Date } & Partial<Omit<StoredExport, "ownerId">>;

/** What has bytes, of an owner's row. */
export type Blobs = Pick<Row, "blob" | "pending">;

const rows = new Schema<Row>(
  {
    _id: String,
    /** Name of bytes that are about to be there. */
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
// Those whose time is over.
rows.index({ at: 1 });

export type ExportStore = ReturnType<typeof createExportStore>;

/** One row per owner. Names of bytes are written before the bytes are, so that a crash leaves none that no row names. */
export const createExportStore = (connection: Connection) => {
  const model = connection.model<Row>("Export", rows);
  const before = { returnDocument: "before", upsert: true } as const;
  return {
    /** Notes which bytes are about to be there. @returns what the row named before */
    begin: (ownerId: string, pending: string, at: Date): Promise<Blobs | null> =>
      model.findOneAndUpdate({ _id: ownerId }, { $set: { pending, at } }, before).lean<Row>().exec(),

    /** Makes them the archive. @returns what the row named before; null where other bytes are awaited by now, or none */
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

    /** Owners whose rows were last begun before a time. */
    begunBefore: async (before: Date, limit: number): Promise<string[]> => {
      const found = await model
        .find({ at: { $lt: before } }, { _id: 1 })
        .limit(limit)
        .lean<Pick<Row, "_id">[]>()
        .exec();
      return found.map(({ _id }) => _id);
    },

    /** Removes a row that still names what it did. */
    remove: async (ownerId: string, { blob, pending }: Blobs): Promise<boolean> => {
      const same = { _id: ownerId, blob: blob ?? null, pending: pending ?? null };
      return (await model.deleteOne(same as object).exec()).deletedCount === 1;
    },
  };
};
