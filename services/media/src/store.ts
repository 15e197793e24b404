import { isDuplicateKey } from "@nodeloom/platform";
import { Schema, type Connection } from "mongoose";
import type { MediaObject } from "./objects";

type Row = Omit<MediaObject, "id"> & { _id: string };

const toObject = ({ _id, ...rest }: Row): MediaObject => ({ id: _id, ...rest });

export interface ObjectStore {
  createIndexes(): Promise<void>;
  /** Adds the object unless its id is taken; answers the object that has the id now. */
  insert(object: MediaObject): Promise<MediaObject>;
  byId(id: string): Promise<MediaObject | undefined>;
  ofOwner(id: string, ownerId: string): Promise<MediaObject | undefined>;
  /** Those of the ids that are the owner's. */
  allOfOwner(ids: readonly string[], ownerId: string): Promise<MediaObject[]>;
  byKey(key: string): Promise<MediaObject | undefined>;
  /** Fails when the database can't be reached. */
  check(): Promise<void>;
}

const rows = new Schema<Row>(
  {
    _id: String,
    key: { type: String, required: true },
    ownerId: { type: String, required: true },
    contentType: { type: String, required: true },
    bytes: { type: Number, required: true },
    sha256: { type: String, required: true },
    blob: { type: String, required: true },
    createdAt: { type: Date, required: true },
  },
  { collection: "objects", versionKey: false, minimize: false, strict: "throw" },
);
// Every read over HTTP looks an object up by its public key.
rows.index({ key: 1 }, { unique: true });

export const createObjectStore = (connection: Connection): ObjectStore => {
  const model = connection.model<Row>("Object", rows);
  const one = async (filter: Partial<Row>): Promise<MediaObject | undefined> => {
    const row = await model.findOne(filter).lean<Row>().exec();
    return row ? toObject(row) : undefined;
  };
  return {
    createIndexes: () => model.createIndexes(),
    insert: async (object) => {
      const { id, ...rest } = object;
      try {
        await model.create([{ _id: id, ...rest }]);
        return object;
      } catch (error) {
        if (!isDuplicateKey(error)) throw error;
        const winner = await one({ _id: id });
        if (!winner) throw error;
        return winner;
      }
    },
    byId: (id) => one({ _id: id }),
    ofOwner: (id, ownerId) => one({ _id: id, ownerId }),
    allOfOwner: async (ids, ownerId) => {
      const found = await model
        .find({ _id: { $in: [...ids] }, ownerId })
        .lean<Row[]>()
        .exec();
      return found.map(toObject);
    },
    byKey: (key) => one({ key }),
    check: async () => {
      await connection.db!.command({ ping: 1 });
    },
  };
};
