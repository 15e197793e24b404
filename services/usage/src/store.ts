import { createInserter, createUpdater, DURABLE } from "@nodeloom/platform";
import { Schema, type Connection, type QueryFilter } from "mongoose";
import { FINAL_STATUSES, type ModelNamesQuery, type RowsQuery, type RunOutcome, type RunStart, type STATUSES } from "./requests";

/** One run, as stored; the outcome's members are zero or null until it is final. */
export interface UsageRow extends Omit<RunStart, "startedAt">, Omit<RunOutcome, "status"> {
  /** Increasing per row. */
  id: number;
  status: (typeof STATUSES)[number];
  createdAt: Date;
}

interface RowDocument extends Omit<UsageRow, "executionId"> {
  _id: string;
  /** The owner, until the row is part of the owner's totals. */
  uncounted?: string;
  /** Set once the row is part of its owner's totals. */
  counted?: true;
}

/** What sums by group need of a row. */
export type GroupedPart = Pick<UsageRow, "source" | "workflowSlug" | "keyId" | "metadata" | "millicredits">;

/** What totals need of a row. */
export type CountedPart = Pick<
  UsageRow,
  "executionId" | "userId" | "source" | "status" | "workflowSlug" | "modelIds" | "millicredits" | "modelCredits" | "createdAt"
>;

/** A row that is older than rows are kept. */
export interface ExpiredRow {
  executionId: string;
  userId: string;
  /** Whether it is part of its owner's totals. */
  isCounted: boolean;
}

const MAJORITY = { w: "majority" } as const;
const OPERATION_TIMEOUT_MS = 10_000;
const COUNTED_PART = {
  userId: 1,
  source: 1,
  status: 1,
  workflowSlug: 1,
  modelIds: 1,
  millicredits: 1,
  modelCredits: 1,
  createdAt: 1,
} as const;
const GROUPED_PART = { _id: 0, source: 1, workflowSlug: 1, keyId: 1, metadata: 1, millicredits: 1 } as const;
/** Rows that a cursor brings at once. */
const CURSOR_ROWS = 1_000;
const GROUPED_TIMEOUT_MS = 30_000;
const FINAL = { $in: [...FINAL_STATUSES] };

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
    metadata: { type: Object, required: true },
    keyId: { type: String, default: "" },
    modelCredits: { type: [Object], required: true },
    uncounted: { type: String },
    counted: { type: Boolean },
  },
  // What billing was told must be found here, too.
  { collection: "usage", id: false, autoCreate: false, minimize: false, versionKey: false, writeConcern: DURABLE },
);
// A user's rows, newest first: all of them, and those of a status, a workflow or a model.
rowSchema.index({ userId: 1, id: -1 });
rowSchema.index({ userId: 1, status: 1, id: -1 });
rowSchema.index({ userId: 1, workflowSlug: 1, id: -1 });
rowSchema.index({ userId: 1, modelIds: 1, id: -1 });
// A user's rows that are not in the totals yet.
rowSchema.index({ uncounted: 1, id: 1 }, { sparse: true });
// The oldest rows.
rowSchema.index({ createdAt: 1 });
rowSchema.index({ id: 1 }, { unique: true });

const toRow = ({ _id, uncounted: _uncounted, counted: _counted, ...document }: RowDocument): UsageRow => ({
  executionId: _id,
  ...document,
});

const toPart = ({ _id, ...document }: RowDocument): CountedPart => ({
  executionId: _id,
  ...document,
});

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
  const insertRow = createInserter<RowDocument>(rows.collection as never, DURABLE);
  const updateRow = createUpdater(rows.collection as never, DURABLE);

  return {
    /** The highest id of all rows, 0 without any. */
    latestId: async (): Promise<number> => (await rows.findOne({}, { id: 1 }).sort({ id: -1 }).lean<Pick<RowDocument, "id">>())?.id ?? 0,

    /** Inserts a row; false if the execution has one. */
    insert: ({ executionId, ...row }: UsageRow): Promise<boolean> => insertRow({ _id: executionId, ...row, uncounted: row.userId }),

    /** The row of an execution of this user. */
    find: async (userId: string, executionId: string): Promise<UsageRow | undefined> => {
      const document = await rows.findOne({ _id: executionId, userId }).maxTimeMS(OPERATION_TIMEOUT_MS).lean<RowDocument | null>();
      return document ? toRow(document) : undefined;
    },

    /** Makes a row final that isn't yet; false if there is no such row, undefined where that is not known. */
    finish: (userId: string, executionId: string, outcome: Partial<UsageRow>): Promise<boolean | undefined> =>
      updateRow({ filter: { _id: executionId, userId, status: "processing" }, update: { $set: outcome } }),

    /** One page of a user's rows, newest first. */
    page: async (query: RowsQuery, limit: number): Promise<UsageRow[]> => {
      const page = rows.find(rowFilter(query)).sort({ id: -1 }).skip(query.offset).limit(limit).maxTimeMS(OPERATION_TIMEOUT_MS);
      return (await page.lean<RowDocument[]>()).map(toRow);
    },

    /** How many rows match: reads all of them, so only for rows that the totals don't know. */
    countAll: (query: RowsQuery): Promise<number> => rows.countDocuments(rowFilter(query)).maxTimeMS(OPERATION_TIMEOUT_MS).exec(),

    /** The distinct models of a user's rows: reads all of them, so only for rows that the totals don't know. */
    modelNamesOfAll: async ({ userId, sources }: ModelNamesQuery): Promise<string[]> =>
      rows.distinct("modelIds", { userId, ...(sources.length > 0 ? { source: { $in: sources } } : {}) }),

    /** A user's rows that are not in the totals: those in progress, and the latest final ones. */
    uncounted: async (userId: string): Promise<CountedPart[]> =>
      (await rows.find({ uncounted: userId }, COUNTED_PART).maxTimeMS(OPERATION_TIMEOUT_MS).lean<RowDocument[]>()).map(toPart),

    /** A user's final rows that began in a time, from one to before another, among those with ids from one to another. */
    grouped: (userId: string, [from, to]: readonly [Date, Date], [first, last]: readonly [number, number]): AsyncIterable<GroupedPart> =>
      rows
        .find({ userId, id: { $gte: first, $lt: last }, createdAt: { $gte: from, $lt: to }, status: FINAL }, GROUPED_PART)
        .maxTimeMS(GROUPED_TIMEOUT_MS)
        .lean<GroupedPart[]>()
        .cursor({ batchSize: CURSOR_ROWS }) as unknown as AsyncIterable<GroupedPart>,

    /** Some final rows of a user that are not in the totals. */
    countable: async (userId: string, limit: number): Promise<CountedPart[]> => {
      const found = rows.find({ uncounted: userId, status: FINAL }, COUNTED_PART).limit(limit);
      return (await found.maxTimeMS(OPERATION_TIMEOUT_MS).lean<RowDocument[]>()).map(toPart);
    },

    /** Rows by their executions. */
    parts: async (executionIds: readonly string[]): Promise<CountedPart[]> =>
      (await rows.find({ _id: { $in: [...executionIds] } }, COUNTED_PART).lean<RowDocument[]>()).map(toPart),

    /** Says of final rows that the totals have them. */
    markCounted: async (executionIds: readonly string[]): Promise<void> => {
      const mark = { $set: { counted: true }, $unset: { uncounted: 1 } } as const;
      await rows.updateMany({ _id: { $in: [...executionIds] } }, mark, { writeConcern: MAJORITY });
    },

    /** Some of the oldest final rows from before a time. */
    expired: async (before: Date, limit: number): Promise<ExpiredRow[]> => {
      const found = rows
        .find({ createdAt: { $lt: before }, status: FINAL }, { userId: 1, counted: 1 })
        .sort({ createdAt: 1 })
        .limit(limit);
      return (await found.lean<RowDocument[]>()).map(({ _id, userId, counted }) => ({
        executionId: _id,
        userId,
        isCounted: counted ?? false,
      }));
    },

    remove: async (executionIds: readonly string[]): Promise<void> => {
      await rows.deleteMany({ _id: { $in: [...executionIds] } }, { writeConcern: MAJORITY });
    },
  };
};
