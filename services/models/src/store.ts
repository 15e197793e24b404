import { Schema, type Connection } from "mongoose";
import type { Override, Overrides, OverrideStore } from "./catalog";

interface Row {
  _id: string;
  revision: number;
  models: Record<string, Override>;
  updatedAt: Date;
}

/** All overrides are one small document, so that a change and its revision are one write. */
const DOCUMENT = "overrides";

const rows = new Schema<Row>(
  {
    _id: String,
    revision: { type: Number, required: true },
    models: { type: Schema.Types.Mixed, required: true },
    updatedAt: { type: Date, required: true },
  },
  { collection: "overrides", versionKey: false, minimize: false, strict: "throw" },
);

/** What the document will hold after a change was applied to it. */
const applied = ({ revision, models }: Overrides, internalName: string, change: Override): Overrides => ({
  revision: revision + 1,
  models: { ...models, [internalName]: { ...models[internalName], ...change } },
});

export const declareOverrides = (connection: Connection) => connection.model<Row>("Override", rows);

/** Opens the store and makes sure its one document exists. */
export const openOverrideStore = async (connection: Connection): Promise<OverrideStore> => {
  const model = declareOverrides(connection);
  await model.updateOne({ _id: DOCUMENT }, { $setOnInsert: { revision: 0, models: {}, updatedAt: new Date() } }, { upsert: true }).exec();

  const required = (row: Overrides | null): Overrides => {
    if (!row) throw new Error("the overrides are gone");
    return { revision: row.revision, models: row.models };
  };

  return {
    revision: async () => {
      const row = await model.findById(DOCUMENT, { revision: 1 }).lean<Pick<Row, "revision">>().exec();
      return row?.revision ?? 0;
    },
    read: async () => required(await model.findById(DOCUMENT).lean<Row>().exec()),
    set: async (internalName, change) => {
      const members = Object.entries(change).filter(([, value]) => value !== undefined);
      const fields = Object.fromEntries(members.map(([name, value]) => [`models.${internalName}.${name}`, value]));
      const before = required(
        await model
          .findOneAndUpdate(
            { _id: DOCUMENT },
            { $set: { ...fields, updatedAt: new Date() }, $inc: { revision: 1 } },
            { returnDocument: "before" },
          )
          .lean<Row>()
          .exec(),
      );
      return { before, after: applied(before, internalName, Object.fromEntries(members)) };
    },
  };
};
