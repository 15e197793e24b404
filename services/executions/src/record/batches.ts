/** Stores batches and their rows. The update that starts or ends an item also changes counts and spending, so each item counts once. */
import { erasedAfter } from "@nodeloom/kernel";
import { DURABLE, insertOnce } from "@nodeloom/platform";
import type { Connection } from "mongoose";
import { isForEndpoints } from "../run/delivery";
import {
  BATCH_COMPLETED,
  FINAL_BATCHES,
  type BatchRecord,
  type BatchRow,
  type BatchStatus,
  type BatchWebhook,
  type ItemEnd,
  type UnderWay,
} from "../run/batch";
import type { ItemMeasurements, TestOutcome } from "../run/batch-tests";
import type { BatchReason } from "../run/batch-reasons";
import { createBatchLists } from "./batch-lists";
import { documents } from "./schema";
import type { RemovedPage } from "./runs/expiry";

const batchSchema = documents<BatchRecord>("batches");
// Lists a user's batches, newest first.
batchSchema.index({ userId: 1, createdAt: -1, _id: -1 });
// Few batches are under way at a time.
batchSchema.index({ isCarried: 1, seenAt: 1 }, { partialFilterExpression: { isCarried: true } });
batchSchema.index({ status: 1, finishedAt: 1, _id: 1 });
// Batches with their own retention.
batchSchema.index({ eraseAt: 1, _id: 1 }, { partialFilterExpression: { eraseAt: { $exists: true } } });

// Lists the test batches of a workflow, newest first.
batchSchema.index({ userId: 1, "test.slug": 1, createdAt: -1, _id: -1 }, { partialFilterExpression: { "test.slug": { $exists: true } } });

const rowSchema = documents<BatchRow>("batchrows");
rowSchema.index({ batchId: 1, index: 1 });

const AFTER = { returnDocument: "after", writeConcern: DURABLE } as const;
const ROWS_AT_ONCE = 100;

export const rowId = (batchId: string, index: number): string => `${batchId}.${index}`;

export const createBatchStore = (connection: Connection) => {
  const batches = connection.model("Batch", batchSchema);
  const rows = connection.model("BatchRow", rowSchema);

  /** @returns the changed batch; null if the filter doesn't match */
  const change = (filter: object, update: object): Promise<BatchRecord | null> =>
    batches.collection.findOneAndUpdate(filter as never, update as never, AFTER) as Promise<BatchRecord | null>;

  const find = (id: string): Promise<BatchRecord | null> => batches.findOne({ _id: id }).lean<BatchRecord>().exec();

  const removeRows = async (batchIds: readonly string[]): Promise<void> => {
    await rows.deleteMany({ batchId: { $in: [...batchIds] } }).exec();
  };

  return {
    ...createBatchLists(batches),

    /** @returns true if the batch was inserted; false if its id exists */
    insert: (record: BatchRecord): Promise<boolean> =>
      insertOnce(batches.collection.insertOne(record as never, { writeConcern: DURABLE, ignoreUndefined: true })),

    find,

    /** Inserts rows of a batch in preparation. Existing rows aren't changed. */
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
     * Starts items within the budget. The same update reserves their credits.
     * @param items items from `next` on, or items that start again
     * @returns null if the batch has changed: another process was faster, the batch is paused or cancelled, or its budget is too small
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

    /** Withdraws the start of an item that isn't running. */
    giveBack: (id: string, item: UnderWay): Promise<BatchRecord | null> =>
      change({ _id: id, underWay: item }, { $pull: { underWay: item }, $push: { again: item.index }, $inc: { committed: -item.reserved } }),

    /** Counts an ended item once, and stores its outcome. An item that isn't under way isn't counted. */
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
      // A batch without a budget reserves no credits, so one update is enough.
      if (await count({ index, reserved: 0 })) return;
      const batch = await batches
        .findOne({ _id: id, "underWay.index": index }, { underWay: 1 })
        .lean<Pick<BatchRecord, "underWay">>()
        .exec();
      const item = batch?.underWay.find((one) => one.index === index);
      if (item) await count(item);
    },

    /** Stores when the measurements of a test batch began, once. @returns that time */
    beginMeasuring: async (id: string, at: Date): Promise<Date> => {
      const filter = { _id: id, "test.measuringSince": { $exists: false } };
      const started = await change(filter, { $set: { "test.measuringSince": at } });
      return (started ?? (await find(id)))?.test?.measuringSince ?? at;
    },

    /** Stores what was measured for an item. @returns false if the item is erased */
    noteMeasured: async (id: string, index: number, measured: ItemMeasurements): Promise<boolean> => {
      const filter = { _id: rowId(id, index), isErased: { $ne: true } };
      const { matchedCount } = await rows.updateOne(filter as never, { $set: { measured } }, { writeConcern: DURABLE } as never).exec();
      return matchedCount > 0;
    },

    /** running → paused. */
    pause: (id: string, reason: BatchReason): Promise<BatchRecord | null> =>
      change({ _id: id, status: "running" }, { $set: { status: "paused", reason }, $unset: { isCarried: 1, outage: 1 } }),

    /** Stores that a running batch waits for the provider of a model. */
    wait: (id: string, model: string): Promise<BatchRecord | null> =>
      change({ _id: id, status: "running", "outage.model": { $ne: model } }, { $set: { outage: { model, since: new Date() } } }),

    /** Stores that a batch no longer waits for a provider. */
    waitNoMore: (id: string): Promise<BatchRecord | null> => change({ _id: id, outage: { $exists: true } }, { $unset: { outage: 1 } }),

    /** paused → running. @param changes further changes in the same update */
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

    /** Ends a batch with no items under way. @param outcomes results of its tests */
    finish: (
      { _id, status, next, again, webhook, runner, retentionDays }: BatchRecord,
      to: BatchStatus,
      outcomes?: readonly TestOutcome[],
    ): Promise<BatchRecord | null> => {
      const finishedAt = new Date();
      const eraseAt = retentionDays === undefined ? {} : { eraseAt: erasedAfter(retentionDays, finishedAt) };
      const measuring = (outcomes ?? []).reduce((sum, outcome) => sum + (outcome.measuring ?? 0), 0);
      const isSent = webhook !== null || isForEndpoints(runner, BATCH_COMPLETED);
      return change(
        { _id, status, next, again, underWay: [] },
        {
          $set: { status: to, finishedAt, ...eraseAt, ...(outcomes ? { "test.outcomes": outcomes } : {}) },
          ...(measuring === 0 ? {} : { $inc: { spent: measuring, committed: measuring } }),
          ...(isSent ? {} : { $unset: { isCarried: 1 } }),
        },
      );
    },

    /** Stores a webhook attempt. After the last attempt, the batch needs no further work. */
    noteWebhook: async (id: string, webhook: Partial<BatchWebhook>, isOver: boolean): Promise<void> => {
      const set = Object.fromEntries(Object.entries(webhook).map(([name, value]) => [`webhook.${name}`, value]));
      await batches.updateOne({ _id: id }, { $set: set, ...(isOver ? { $unset: { isCarried: 1 } } : {}) } as never).exec();
    },

    /** Deletes a batch whose preparation was abandoned. */
    forget: async (id: string): Promise<void> => {
      await removeRows([id]);
      await batches.deleteOne({ _id: id, status: "preparing" }).exec();
    },

    rowsAt: (batchId: string, indexes: readonly number[]): Promise<BatchRow[]> =>
      rows
        .find({ _id: { $in: indexes.map((index) => rowId(batchId, index)) } })
        .sort({ index: 1 })
        .lean<BatchRow[]>()
        .exec(),

    rowsFrom: (batchId: string, from: number, limit: number): Promise<BatchRow[]> =>
      rows
        .find({ batchId, index: { $gte: from } })
        .sort({ index: 1 })
        .limit(limit)
        .lean<BatchRow[]>()
        .exec(),

    /** Deletes batches that ended before a time, with their rows. */
    removeExpired: async (before: Date, limit: number): Promise<RemovedPage> => {
      const over: Record<string, unknown> = { status: { $in: [...FINAL_BATCHES] }, finishedAt: { $lt: before }, isCarried: { $ne: true } };
      const overdue = await batches.find(over, { _id: 1 }).limit(limit).lean<{ _id: string }[]>().exec();
      if (overdue.length === 0) return { removed: 0, next: "" };
      const ids = overdue.map(({ _id }) => _id);
      // Data that only the batch points to is removed first. After a crash in between, the batch can still be found.
      await removeRows(ids);
      const { deletedCount } = await batches.deleteMany({ ...over, _id: { $in: ids } }).exec();
      return { removed: deletedCount, next: "again" };
    },
  };
};
