import { isDuplicateKey } from "@nodeloom/platform";
import { Schema, type Connection, type QueryFilter } from "mongoose";
import type { ModelNamesQuery, RowsQuery, RunOutcome, RunStart, STATUSES } from "./requests";

/** One run, as stored; the outcome's members are zero or null until it is final. */
export interface UsageRow extends Omit<RunStart, "startedAt">, Omit<RunOutcome, "status"> {
  /** Increasing per row. */
  id: number;
  status: (typeof STATUSES)[number];
  createdAt: Date;
}

type RowDocument = Omit<UsageRow, "executionId"> & { _id: string };
interface CounterDocument {
  _id: string;
  value: number;
}

const COUNTER = "usage";
/** Acknowledged only once it survives the loss of the server's process: what billing was told must be found here, too. */
const DURABLE = { w: "majority", j: true } as const;
const OPERATION_TIMEOUT_MS = 10_000;

const rowSchema = new Schema<RowDocument>(
  {
    _id: { type: String, required: true },
    id: { type: Number, required: true },
    userId: { type: String, required: true },
    workflowSlug: { type: String, default: null },
    modelIds: { type: [String], required: true },
    status: { type: String, required: true },
    source: { type: String, required: true },
    costMicroUsd: { type: Number, required: true },
    userCostMicroUsd: { type: Number, required: true },
    millicredits: { type: Number, required: true },
    durationMs: { type: Number, required: true },
    errorCode: { type: String, default: null },
    requestId: { type: String, default: null },
    createdAt: { type: Date, required: true },
  },
  { collection: "usage", id: false, autoCreate: false, minimize: false, versionKey: false, writeConcern: DURABLE },
);
// A user's rows, newest first.
rowSchema.index({ userId: 1, id: -1 });
rowSchema.index({ id: 1 }, { unique: true });

const counterSchema = new Schema<CounterDocument>(
  { _id: { type: String, required: true }, value: { type: Number, required: true } },
  { collection: "counters", autoCreate: false, minimize: false, versionKey: false },
);

const toRow = ({ _id, ...document }: RowDocument): UsageRow => ({ executionId: _id, ...document });

const rowFilter = ({ userId, status, modelId, workflowSlug, sources }: RowsQuery): QueryFilter<RowDocument> => ({
  userId,
  ...(status ? { status } : {}),
  ...(modelId ? { modelIds: modelId } : {}),
  ...(workflowSlug ? { workflowSlug } : {}),
  ...(sources.length > 0 ? { source: { $in: sources } } : {}),
});

export type UsageStore = ReturnType<typeof createStore>;

/** Usage rows in MongoDB. */
export const createStore = (connection: Connection) => {
  const rows = connection.model<RowDocument>("UsageRow", rowSchema);
  const counters = connection.model<CounterDocument>("Counter", counterSchema);

  /** Creating the counter may race with another process; the second look finds it. */
  const reserve = async (count: number, mayRace = true): Promise<number> => {
    try {
      const counter = await counters
        .findOneAndUpdate({ _id: COUNTER }, { $inc: { value: count } }, { upsert: true, returnDocument: "after" })
        .lean<CounterDocument>();
      return counter.value;
    } catch (error) {
      if (!mayRace || !isDuplicateKey(error)) throw error;
      return reserve(count, false);
    }
  };

  return {
    createIndexes: async (): Promise<void> => rows.createIndexes(),

    /** Reserves ids; the answer is the last of them. */
    reserveIds: (count: number): Promise<number> => reserve(count),

    /** Inserts a row; false if the execution has one. */
    insert: async ({ executionId, ...row }: UsageRow): Promise<boolean> => {
      try {
        await rows.insertOne({ _id: executionId, ...row });
        return true;
      } catch (error) {
        if (isDuplicateKey(error)) return false;
        throw error;
      }
    },

    /** The row of an execution of this user. */
    find: async (userId: string, executionId: string): Promise<UsageRow | undefined> => {
      const document = await rows.findOne({ _id: executionId, userId }).maxTimeMS(OPERATION_TIMEOUT_MS).lean<RowDocument | null>();
      return document ? toRow(document) : undefined;
    },

    /** Makes a row final that isn't yet; false if there is no such row. */
    finish: async (userId: string, executionId: string, outcome: Partial<UsageRow>): Promise<boolean> => {
      const { matchedCount } = await rows.updateOne({ _id: executionId, userId, status: "processing" }, { $set: outcome });
      return matchedCount === 1;
    },

    /** One page of a user's rows, newest first, and how many there are in all. */
    list: async (query: RowsQuery, limit: number): Promise<{ rows: UsageRow[]; total: number }> => {
      const filter = rowFilter(query);
      const page = rows.find(filter).sort({ id: -1 }).skip(query.offset).limit(limit).maxTimeMS(OPERATION_TIMEOUT_MS);
      const [found, total] = await Promise.all([page.lean<RowDocument[]>(), rows.countDocuments(filter).maxTimeMS(OPERATION_TIMEOUT_MS)]);
      return { rows: found.map(toRow), total };
    },

    /** The distinct models of a user's rows. */
    modelNames: async ({ userId, sources }: ModelNamesQuery): Promise<string[]> =>
      rows.distinct("modelIds", { userId, ...(sources.length > 0 ? { source: { $in: sources } } : {}) }),
  };
};
