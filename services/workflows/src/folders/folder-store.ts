import { Schema, type Connection } from "mongoose";
import type { Folder, FolderStore } from "./folders";

type Row = Omit<Folder, "id"> & { _id: string };

const rows = new Schema<Row>(
  {
    _id: String,
    ownerId: { type: String, required: true },
    name: { type: String, required: true },
    createdAt: { type: Date, required: true },
  },
  { collection: "folders", versionKey: false, minimize: false, strict: "throw" },
);
rows.index({ ownerId: 1, name: 1 });

const toFolder = ({ _id, ...rest }: Row): Folder => ({ id: _id, ...rest });

export const createFolderStore = (connection: Connection): FolderStore => {
  const model = connection.model<Row>("Folder", rows);
  return {
    insert: async ({ id, ...rest }) => {
      await model.create([{ _id: id, ...rest }]);
    },
    count: (ownerId) => model.countDocuments({ ownerId }).exec(),
    list: async (ownerId) => (await model.find({ ownerId }).sort({ name: 1, _id: 1 }).lean<Row[]>().exec()).map(toFolder),
    exists: async (id, ownerId) => (await model.findOne({ _id: id, ownerId }, { _id: 1 }).lean().exec()) !== null,
    rename: async (id, ownerId, name) => {
      const row = await model.findOneAndUpdate({ _id: id, ownerId }, { $set: { name } }, { returnDocument: "after" }).lean<Row>().exec();
      return row ? toFolder(row) : undefined;
    },
    remove: async (id, ownerId) => (await model.deleteOne({ _id: id, ownerId }).exec()).deletedCount === 1,
  };
};
