/**
 * Schedules and hooks that version 1.0.0 stored in this database. The triggers service takes each of them once. Remove this with the
 * release after the next.
 */
import { takeRow, unmovedIds, type Move } from "@nodeloom/platform";
import { mongo, type Connection } from "mongoose";
import { documents } from "../schema";

interface MovedRow {
  _id: string;
  userId: string;
  slot: number;
  secretHash?: string;
  moved?: Move;
}

/** Until the rollout ends, processes of version 1.0.0 can still read moved rows. */
const MOVED_DAYS = 7;
const expiry = { expireAfterSeconds: MOVED_DAYS * 24 * 3_600 };

const scheduleSchema = documents<MovedRow>("schedules");
scheduleSchema.index({ userId: 1, slot: 1 }, { unique: true });
scheduleSchema.index({ "moved.at": 1 }, expiry);
const hookSchema = documents<MovedRow>("hooks");
hookSchema.index({ userId: 1, slot: 1 }, { unique: true });
hookSchema.index({ secretHash: 1 }, { unique: true });
hookSchema.index({ "moved.at": 1 }, expiry);

export interface WhichTrigger {
  ownerId: string;
  id: string;
  secretHash: string;
}

const all = async (ids: AsyncIterable<string>): Promise<string[]> => {
  const movedIds: string[] = [];
  for await (const id of ids) movedIds.push(id);
  return movedIds;
};

export const createMovedTriggers = (connection: Connection) => {
  const rows = (name: string, schema: typeof scheduleSchema) =>
    connection.model(name, schema).collection as unknown as mongo.Collection<MovedRow>;
  const collections = { schedules: rows("Schedule", scheduleSchema), hooks: rows("Hook", hookSchema) };
  const isKnown = (name: string): name is keyof typeof collections => Object.hasOwn(collections, name);
  return {
    /** Returns the ids of rows that haven't moved yet, by one of their fields. */
    find: async ({ ownerId, id, secretHash }: WhichTrigger): Promise<{ scheduleIds: string[]; hookIds: string[] }> => {
      if (secretHash !== "") return { scheduleIds: [], hookIds: await all(unmovedIds(collections.hooks, { secretHash })) };
      const filter = id === "" ? { userId: ownerId } : { _id: id };
      return {
        scheduleIds: await all(unmovedIds(collections.schedules, filter)),
        hookIds: await all(unmovedIds(collections.hooks, filter)),
      };
    },

    /** Returns the row as BSON; empty if another move has taken it. */
    move: async (collection: string, id: string, moveId: string): Promise<Buffer> => {
      const row = isKnown(collection) ? await takeRow(collections[collection], id, moveId) : null;
      return row ? Buffer.from(mongo.BSON.serialize(row)) : Buffer.alloc(0);
    },

    /** Deletes an account's rows, including moved rows. */
    remove: async (collection: keyof typeof collections, userId: string): Promise<number> =>
      (await collections[collection].deleteMany({ userId })).deletedCount,
  };
};

export type MovedTriggers = ReturnType<typeof createMovedTriggers>;
