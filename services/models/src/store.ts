import { Schema, type Connection } from "mongoose";
import { DomainError, member } from "@nodeloom/kernel";
import type { AddedEntry } from "./added/entries";
import type { Overrides, OverrideStore } from "./catalog";
import type { Override } from "./override-check";

interface Row {
  _id: string;
  revision: number;
  models: Record<string, Override>;
  /** Absent until administrators set orders or add entries. */
  orders?: Record<string, string[]>;
  entries?: Record<string, AddedEntry>;
  updatedAt: Date;
}

/** One document holds all settings, so that a change and its revision are one write. */
const DOCUMENT = "overrides";
const MAX_ATTEMPTS = 10;

const rows = new Schema<Row>(
  {
    _id: String,
    revision: { type: Number, required: true },
    models: { type: Schema.Types.Mixed, required: true },
    orders: { type: Schema.Types.Mixed },
    entries: { type: Schema.Types.Mixed },
    updatedAt: { type: Date, required: true },
  },
  { collection: "overrides", versionKey: false, minimize: false, strict: "throw" },
);

/** Returns the document after a change. */
const applied = ({ revision, models, ...others }: Overrides, internalName: string, change: Override): Overrides => ({
  ...others,
  revision: revision + 1,
  models: { ...models, [internalName]: { ...member(models, internalName), ...change } },
});

export const declareOverrides = (connection: Connection) => connection.model<Row>("Override", rows);

/** Opens the store and creates its document if necessary. */
export const openOverrideStore = async (connection: Connection): Promise<OverrideStore> => {
  const model = declareOverrides(connection);
  await model.updateOne({ _id: DOCUMENT }, { $setOnInsert: { revision: 0, models: {}, updatedAt: new Date() } }, { upsert: true }).exec();

  const required = (row: Row | null): Overrides => {
    if (!row) throw new Error("the overrides are gone");
    return { revision: row.revision, models: row.models, orders: row.orders ?? {}, entries: row.entries ?? {} };
  };
  const read = async (): Promise<Overrides> => required(await model.findById(DOCUMENT).lean<Row>().exec());

  /** Changes the document and its revision. @returns the previous document */
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
    read,
    changeEntries: async (decide) => {
      for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt += 1) {
        const before = await read();
        const entries = decide(before.entries);
        if (entries === before.entries) return { before, after: before };
        const changed = [...new Set([...Object.keys(entries), ...Object.keys(before.entries)])].filter(
          (name) => member(entries, name) !== member(before.entries, name),
        );
        // Overrides of a changed entry are removed with the change.
        const set = Object.fromEntries(
          changed.flatMap((name) => (Object.hasOwn(entries, name) ? [[`entries.${name}`, entries[name]]] : [])),
        );
        const unset = Object.fromEntries(
          changed.flatMap((name) => [[`models.${name}`, 1], ...(Object.hasOwn(entries, name) ? [] : [[`entries.${name}`, 1]])]),
        );
        const update = { $set: { ...set, updatedAt: new Date() }, $unset: unset, $inc: { revision: 1 } };
        const { modifiedCount } = await model.updateOne({ _id: DOCUMENT, revision: before.revision }, update).exec();
        if (modifiedCount === 0) continue;
        const models = Object.fromEntries(Object.entries(before.models).filter(([name]) => !changed.includes(name)));
        return { before, after: { ...before, revision: before.revision + 1, models, entries } };
      }
      throw new DomainError("unavailable", "SERVICE_UNAVAILABLE", "other administrators are changing models: try again", { retryAfter: 1 });
    },
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
