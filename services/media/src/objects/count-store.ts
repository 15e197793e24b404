import { isDuplicateKey } from "@nodeloom/platform";
import { Schema, type Connection, type QueryFilter } from "mongoose";
import type { ByteCount, CountStore, Entry } from "./quota";

interface Row {
  _id: string;
  bytes: number;
  entries: Entry[];
}

/** Maximum concurrent changes per owner. */
const MAX_ENTRIES = 200;

const entry = new Schema<Entry>(
  {
    token: { type: String, required: true },
    objectId: { type: String, required: true },
    bytes: { type: Number, required: true },
    at: { type: Date, required: true },
  },
  { _id: false },
);
const rows = new Schema<Row>(
  { _id: String, bytes: { type: Number, required: true }, entries: { type: [entry] } },
  { collection: "counts", versionKey: false, minimize: false, strict: "throw" },
);

const toCount = ({ _id, bytes, entries }: Row): ByteCount => ({ ownerId: _id, bytes, entries });

/** Stores the number of bytes per owner, in one document each. */
export const createCountStore = (connection: Connection): CountStore => {
  const model = connection.model<Row>("Count", rows);
  const hasRoom = { [`entries.${MAX_ENTRIES - 1}`]: { $exists: false } };
  return {
    read: async (ownerId) => {
      const row = await model.findOne({ _id: ownerId }).lean<Row>().exec();
      return row ? toCount(row) : undefined;
    },
    create: async (ownerId) => {
      try {
        await model.create([{ _id: ownerId, bytes: 0, entries: [] }]);
      } catch (error) {
        if (!isDuplicateKey(error)) throw error;
      }
    },
    reserve: async (ownerId, added, max) => {
      const room = max === undefined ? {} : { bytes: { $lte: max - added.bytes } };
      const filter = { _id: ownerId, ...hasRoom, ...room } as QueryFilter<Row>;
      const { modifiedCount } = await model.updateOne(filter, { $inc: { bytes: added.bytes }, $push: { entries: added } }).exec();
      return modifiedCount === 1;
    },
    open: async (ownerId, added) => {
      await model.updateOne({ _id: ownerId }, { $push: { entries: added } }).exec();
    },
    close: async (ownerId, { token, bytes }, counts) => {
      const decrement = counts ? {} : { $inc: { bytes: -bytes } };
      await model.updateOne({ _id: ownerId, "entries.token": token }, { ...decrement, $pull: { entries: { token } } }).exec();
    },
    abandoned: async (before, limit) => {
      const rowsWithEntries = await model
        .find({ entries: { $elemMatch: { at: { $lt: before } } } })
        .limit(limit)
        .lean<Row[]>()
        .exec();
      return rowsWithEntries.map(toCount);
    },
  };
};
