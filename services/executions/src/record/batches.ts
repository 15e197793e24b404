/** Batches and their rows. What a batch counts and spends changes with the update that begins or ends an item, once. */
import { beyond, DURABLE, insertOnce, type ListPosition } from "@nodeloom/platform";
import type { Connection } from "mongoose";
import {
  FINAL_BATCHES,
  OPEN_BATCHES,
  type BatchReason,
  type BatchRecord,
  type BatchRow,
  type BatchStatus,
  type BatchWebhook,
  type ItemEnd,
  type UnderWay,
} from "../run/batch";
import { documents } from "./schema";
import type { Removed } from "./expiry";

const batchSchema = documents<BatchRecord>("batches");
// One user's, newest first.
batchSchema.index({ userId: 1, createdAt: -1, _id: -1 });
// Few are carried at a time.
batchSchema.index({ isCarried: 1, seenAt: 1 }, { partialFilterExpression: { isCarried: true } });
batchSchema.index({ status: 1, finishedAt: 1, _id: 1 });

const rowSchema = documents<BatchRow>("batchrows");
rowSchema.index({ batchId: 1, index: 1 });

const AFTER = { returnDocument: "after", writeConcern: DURABLE } as const;
/** Rows that are written at once. */
const ROWS_AT_ONCE = 100;

/** What the relay needs of a batch. */
const OPEN = { userId: 1, status: 1, createdAt: 1 } as const;
export type OpenBatch = Pick<BatchRecord, "_id" | keyof typeof OPEN>;

export const rowId = (batchId: string, index: number): string => `${batchId}.${index}`;

export const createBatchStore = (connection: Connection) => {
  const batches = connection.model("Batch", batchSchema);
  const rows = connection.model("BatchRow", rowSchema);

  /** Makes a conditional change. @returns the batch as it is then; null when it is not what the filter says */
  const change = (filter: object, update: object): Promise<BatchRecord | null> =>
    batches.collection.findOneAndUpdate(filter as never, update as never, AFTER) as Promise<BatchRecord | null>;

  const find = (id: string): Promise<BatchRecord | null> => batches.findOne({ _id: id }).lean<BatchRecord>().exec();

  const removeRows = async (batchIds: readonly string[]): Promise<void> => {
    await rows.deleteMany({ batchId: { $in: [...batchIds] } }).exec();
  };

  return {
    /** @returns whether it was inserted; false where there is one with its id */
    insert: (record: BatchRecord): Promise<boolean> =>
      insertOnce(batches.collection.insertOne(record as never, { writeConcern: DURABLE, ignoreUndefined: true })),

    find,

    /** A batch that may be shown. */
    findOwned: (id: string, userId: string): Promise<BatchRecord | null> =>
      batches
        .findOne({ _id: id, userId, status: { $ne: "preparing" } })
        .lean<BatchRecord>()
        .exec(),

    /** Newest first. */
    list: (userId: string, limit: number, before?: ListPosition): Promise<BatchRecord[]> =>
      batches
        .find({ userId, status: { $ne: "preparing" }, ...beyond("createdAt", before, "$lt") })
        .sort({ createdAt: -1, _id: -1 })
        .limit(limit)
        .lean<BatchRecord[]>()
        .exec(),

    /** A user's batches that are not over. */
    open: (userId: string): Promise<BatchRecord[]> =>
      batches
        .find({ userId, status: { $in: [...OPEN_BATCHES] } })
        .lean<BatchRecord[]>()
        .exec(),

    /** Writes the rows of a batch in preparation; those that are there stay. */
    insertRows: async (all: readonly BatchRow[]): Promise<void> => {
      for (let from = 0; from < all.length; from += ROWS_AT_ONCE) {
        const some = all.slice(from, from + ROWS_AT_ONCE).map((row) => ({
          updateOne: { filter: { _id: row._id }, update: { $setOnInsert: row }, upsert: true },
        }));
        await rows.collection.bulkWrite(some as never, { ordered: false, writeConcern: DURABLE });
      }
    },

    /** preparing → running. */
    activate: (id: string): Promise<BatchRecord | null> => change({ _id: id, status: "preparing" }, { $set: { status: "running" } }),

    /**
     * Lets items begin, within the budget: what they set aside is counted by the same update.
     * @param items either from `next` on, or of those that begin again
     * @returns null when the batch has changed: another process was faster, it is paused or cancelled, or the budget does not suffice
     */
    begin: ({ _id, next, maxMillicredits }: BatchRecord, items: readonly UnderWay[]): Promise<BatchRecord | null> => {
      const indexes = items.map(({ index }) => index);
      const isNext = indexes[0] === next;
      const reserved = items.reduce((sum, item) => sum + item.reserved, 0);
      return change(
        {
          _id,
          status: "running",
          ...(isNext ? { next } : { again: { $all: indexes } }),
          ...(maxMillicredits === undefined ? {} : { maxMillicredits, committed: { $lte: maxMillicredits - reserved } }),
        },
        {
          ...(isNext ? { $set: { next: next + items.length } } : { $pull: { again: { $in: indexes } } }),
          $push: { underWay: { $each: [...items] } },
          $inc: { committed: reserved },
        },
      );
    },

    /** Takes back that an item has begun: nothing of it runs. */
    giveBack: (id: string, item: UnderWay): Promise<BatchRecord | null> =>
      change({ _id: id, underWay: item }, { $pull: { underWay: item }, $push: { again: item.index }, $inc: { committed: -item.reserved } }),

    /** Counts the end of an item, once, and keeps how it ended. Nothing is counted that is not under way. */
    endItem: async (id: string, { index, ...end }: ItemEnd): Promise<void> => {
      const { status, millicredits } = end;
      await rows.updateOne({ _id: rowId(id, index) }, { $set: end }, { writeConcern: DURABLE, ignoreUndefined: true } as never).exec();
      const count = (item: UnderWay): Promise<BatchRecord | null> =>
        change(
          { _id: id, underWay: item },
          {
            $pull: { underWay: item },
            $inc: { [`counts.${status}`]: 1, spent: millicredits, committed: millicredits - item.reserved },
          },
        );
      // Without a budget nothing is set aside: one exchange with the database is saved.
      if (await count({ index, reserved: 0 })) return;
      const batch = await batches
        .findOne({ _id: id, "underWay.index": index }, { underWay: 1 })
        .lean<Pick<BatchRecord, "underWay">>()
        .exec();
      const item = batch?.underWay.find((one) => one.index === index);
      if (item) await count(item);
    },

    /** running → paused. */
    pause: (id: string, reason: BatchReason): Promise<BatchRecord | null> =>
      change({ _id: id, status: "running" }, { $set: { status: "paused", reason }, $unset: { isCarried: 1 } }),

    /** paused → running. @param changes what else changes by it */
    resume: (
      id: string,
      userId: string,
      changes: Partial<Pick<BatchRecord, "runner" | "grantedAt" | "metadata" | "webhook" | "maxMillicredits">> = {},
    ): Promise<BatchRecord | null> =>
      change({ _id: id, userId, status: "paused" }, { $set: { ...{ status: "running", reason: null, isCarried: true }, ...changes } }),

    /** running | paused → cancel_requested. */
    requestCancel: (id: string, userId: string, reason: BatchReason | null = null): Promise<BatchRecord | null> =>
      change(
        { _id: id, userId, status: { $in: ["running", "paused"] } },
        { $set: { status: "cancel_requested", reason, isCarried: true } },
      ),

    /** Ends a batch with nothing under way. */
    finish: ({ _id, status, next, again, webhook }: BatchRecord, to: BatchStatus): Promise<BatchRecord | null> =>
      change(
        { _id, status, next, again, underWay: [] },
        { $set: { status: to, finishedAt: new Date() }, ...(webhook ? {} : { $unset: { isCarried: 1 } }) },
      ),

    /** Keeps an attempt at its webhook, and ends what is to be done for the batch where there is no other. */
    noteWebhook: async (id: string, webhook: Partial<BatchWebhook>, isOver: boolean): Promise<void> => {
      const set = Object.fromEntries(Object.entries(webhook).map(([name, value]) => [`webhook.${name}`, value]));
      await batches.updateOne({ _id: id }, { $set: set, ...(isOver ? { $unset: { isCarried: 1 } } : {}) } as never).exec();
    },

    /** Batches for which something is to be done, in order of their ids, after a given one. */
    carried: (limit: number, after = ""): Promise<OpenBatch[]> =>
      batches
        .find({ isCarried: true, _id: { $gt: after } }, OPEN)
        .sort({ _id: 1 })
        .limit(limit)
        .lean<OpenBatch[]>()
        .exec(),

    /** Forgets a batch whose preparation was given up. */
    forget: async (id: string): Promise<void> => {
      await removeRows([id]);
      await batches.deleteOne({ _id: id, status: "preparing" }).exec();
    },

    /** Rows by their indexes, in order. */
    rowsAt: (batchId: string, indexes: readonly number[]): Promise<BatchRow[]> =>
      rows
        .find({ _id: { $in: indexes.map((index) => rowId(batchId, index)) } })
        .sort({ index: 1 })
        .lean<BatchRow[]>()
        .exec(),

    /** Rows from an index on, in order. */
    rowsFrom: (batchId: string, from: number, limit: number): Promise<BatchRow[]> =>
      rows
        .find({ batchId, index: { $gte: from } })
        .sort({ index: 1 })
        .limit(limit)
        .lean<BatchRow[]>()
        .exec(),

    /** Removes batches that ended before a time, with their rows. */
    removeExpired: async (before: Date, limit: number): Promise<Removed> => {
      const over: Record<string, unknown> = { status: { $in: [...FINAL_BATCHES] }, finishedAt: { $lt: before }, isCarried: { $ne: true } };
      const found = await batches.find(over, { _id: 1 }).limit(limit).lean<{ _id: string }[]>().exec();
      if (found.length === 0) return { removed: 0, next: "" };
      const ids = found.map(({ _id }) => _id);
      // First what only the batch leads to: a crash in between leaves a batch that is found again.
      await removeRows(ids);
      const { deletedCount } = await batches.deleteMany({ ...over, _id: { $in: ids } }).exec();
      return { removed: deletedCount, next: "again" };
    },
  };
};
