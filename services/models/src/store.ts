import { Schema, type Connection } from "mongoose";
import type { Override, Overrides, OverrideStore } from "./catalog";

interface Row {
  _id: string;
  revision: number;
  models: Record<string, Override>;
  /** Absent in rows from before there were any. */
  orders?: Record<string, string[]>;
  updatedAt: Date;
}

/** All overrides are one small document, so that a change and its revision are one write. */
const DOCUMENT = "overrides";

const rows = new Schema<Row>(
  {
    _id: String,
    revision: { type: Number, required: true },
    models: { type: Schema.Types.Mixed, required: true },
    orders: { type: Schema.Types.Mixed },
    updatedAt: { type: Date, required: true },
  },
  { collection: "overrides", versionKey: false, minimize: false, strict: "throw" },
);

/** What the document will hold after a change was applied to it. */
const applied = ({ revision, models, orders }: Overrides, internalName: string, change: Override): Overrides => ({
  revision: revision + 1,
  orders,
  models: { ...models, [internalName]: { ...models[internalName], ...change } },
});

export const declareOverrides = (connection: Connection) => connection.model<Row>("Override", rows);

/** Opens the store and makes sure its one document exists. */
export const openOverrideStore = async (connection: Connection): Promise<OverrideStore> => {
  const model = declareOverrides(connection);
  await model.updateOne({ _id: DOCUMENT }, { $setOnInsert: { revision: 0, models: {}, updatedAt: new Date() } }, { upsert: true }).exec();

  const required = (row: Row | null): Overrides => {
    if (!row) throw new Error("the overrides are gone");
    return { revision: row.revision, models: row.models, orders: row.orders ?? {} };
  };

  /** Changes the document and its revision. @returns what it was */
  const change = async (fields: Record<string, unknown>): Promise<Overrides> =>
    required(
      await model
        .findOneAndUpdate(
          { _id: DOCUMENT },
          { $set: { ...fields, updatedAt: new Date() }, $inc: { revision: 1 } },
          { returnDocument: "before" },
        )
        .lean<Row>()
        .exec(),
    );

  return {
    revision: async () => {
      const row = await model.findById(DOCUMENT, { revision: 1 }).lean<Pick<Row, "revision">>().exec();
      return row?.revision ?? 0;
    },
    read: async () => required(await model.findById(DOCUMENT).lean<Row>().exec()),
    set: async (internalName, override) => {
      const members = Object.entries(override).filter(([, value]) => value !== undefined);
      const before = await change(Object.fromEntries(members.map(([name, value]) => [`models.${internalName}.${name}`, value])));
      return { before, after: applied(before, internalName, Object.fromEntries(members)) };
    },
    setOrder: async (task, order) => {
      const before = await change({ [`orders.${task}`]: [...order] });
      return { before, after: { ...before, revision: before.revision + 1, orders: { ...before.orders, [task]: order } } };
    },
  };
};
