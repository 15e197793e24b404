import { DomainError } from "@nodeloom/kernel";
import { Schema, type Connection } from "mongoose";
import type { ListedModel, ServerRecord } from "./server-record";

const servers = new Schema<ServerRecord>(
  {
    _id: String,
    kind: { type: String, required: true },
    name: { type: String, required: true },
    url: { type: String, required: true },
    hasKey: { type: Boolean, required: true },
    fromEnvironment: { type: Boolean, required: true },
    listed: { type: Schema.Types.Mixed, required: true },
    choices: { type: Schema.Types.Mixed, required: true },
    workflows: { type: Schema.Types.Mixed, required: true },
    revision: { type: Number, required: true },
    createdAt: { type: Date, required: true },
    updatedAt: { type: Date, required: true },
  },
  { collection: "servers", versionKey: false, minimize: false, strict: "throw" },
);

export const declareServers = (connection: Connection) => connection.model<ServerRecord>("Server", servers);

const DUPLICATE = 11_000;
export type ServerChange = Partial<Pick<ServerRecord, "name" | "url" | "hasKey" | "choices" | "workflows" | "listed">>;

export type ServerStore = ReturnType<typeof openServerStore>;

/** Stores one document for each server. Every change is a single write. */
export const openServerStore = (connection: Connection) => {
  const model = declareServers(connection);
  return {
    /** Changes whenever a server changes. */
    revision: async (): Promise<string> => {
      const rows = await model.find({}, { revision: 1, createdAt: 1 }).sort({ _id: 1 }).lean().exec();
      return rows.map(({ _id, revision, createdAt }) => `${_id}:${createdAt.getTime()}:${revision}`).join(" ");
    },
    list: (): Promise<ServerRecord[]> => model.find({}).sort({ _id: 1 }).lean<ServerRecord[]>().exec(),
    find: (id: string): Promise<ServerRecord | null> => model.findById(id).lean<ServerRecord>().exec(),
    /** @throws DomainError ALREADY_EXISTS */
    insert: async (record: ServerRecord): Promise<void> => {
      try {
        await model.create(record);
      } catch (error) {
        if ((error as { code?: unknown }).code !== DUPLICATE) throw error;
        throw new DomainError("conflict", "ALREADY_EXISTS", `the server ${record._id} already exists: choose another name`);
      }
    },
    /** Updates a server if its revision hasn't changed. @returns null if the revision differs */
    change: (id: string, revision: number, change: ServerChange): Promise<ServerRecord | null> =>
      model
        .findOneAndUpdate(
          { _id: id, revision },
          { $set: { ...change, updatedAt: new Date() }, $inc: { revision: 1 } },
          { returnDocument: "after" },
        )
        .lean<ServerRecord>()
        .exec(),
    /** Stores a server's models, unless its URL has changed. */
    setListed: async ({ _id, url }: ServerRecord, listed: ListedModel[]): Promise<void> => {
      await model.updateOne({ _id, url }, { $set: { listed }, $inc: { revision: 1 } }).exec();
    },
    remove: (id: string): Promise<ServerRecord | null> => model.findOneAndDelete({ _id: id }).lean<ServerRecord>().exec(),
    /** Replaces the servers that the environment set before. */
    setEnvironment: async (environmentServers: readonly Pick<ServerRecord, "_id" | "kind" | "name" | "url">[]): Promise<void> => {
      const now = new Date();
      const fresh = { hasKey: false, listed: [], choices: [], workflows: [], createdAt: now };
      await model.deleteMany({ fromEnvironment: true, _id: { $nin: environmentServers.map(({ _id }) => _id) } }).exec();
      for (const { _id, kind, name, url } of environmentServers) {
        const set = { kind, name, url, fromEnvironment: true, updatedAt: now };
        await model.updateOne({ _id }, { $set: set, $setOnInsert: fresh, $inc: { revision: 1 } }, { upsert: true }).exec();
      }
    },
  };
};
