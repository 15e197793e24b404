import { createInserter, createUpdater, DURABLE } from "@nodeloom/platform";
import { Schema, type Connection, type QueryFilter } from "mongoose";
import {
  FINAL_STATUSES,
  type ModelNamesQuery,
  type QuoteErrorQuery,
  type RowsQuery,
  type RunOutcome,
  type RunStart,
  type STATUSES,
} from "./requests";

/** One run. Members of the outcome are zero or null until the row is final. */
export interface UsageRow extends Omit<RunStart, "startedAt">, Omit<RunOutcome, "status"> {
  /** Increases with every row. Unique for the owner. */
  id: number;
  status: (typeof STATUSES)[number];
  createdAt: Date;
}

interface RowDocument extends Omit<UsageRow, "executionId"> {
  _id: string;
  /** Id of the owner, until the owner's totals include the row. */
  uncounted?: string;
  /** Set when the owner's totals include the row. */
  counted?: true;
}

/** Members needed for sums by group. */
export type GroupedPart = Pick<UsageRow, "source" | "workflowSlug" | "keyId" | "metadata" | "millicredits">;

/** Members needed for totals. */
export type CountedPart = Pick<
  UsageRow,
  "executionId" | "userId" | "source" | "status" | "workflowSlug" | "modelIds" | "millicredits" | "modelCredits" | "createdAt"
> & {
  /** True if the owner's totals include it. */
  counted?: true;
};

export type CostPart = Pick<UsageRow, "millicredits" | "estimatedMillicredits">;

/** A row past its retention period. */
export type ExpiredRow = Pick<UsageRow, "executionId" | "userId">;

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
  counted: 1,
} as const;
const GROUPED_PART = { _id: 0, source: 1, workflowSlug: 1, keyId: 1, metadata: 1, millicredits: 1 } as const;
const COST_PART = { _id: 0, millicredits: 1, estimatedMillicredits: 1 } as const;
/** Rows among which the highest id is. A run's row can be created later than that of a run that began after it. */
const NEWEST_ROWS = 1_000;
/** Number of rows per batch of a cursor. */
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
    estimatedMillicredits: { type: Number },
    uncounted: { type: String },
    counted: { type: Boolean },
  },
  // Rows must be as durable as the charges in billing.
  { collection: "usage", id: false, autoCreate: false, minimize: false, versionKey: false, writeConcern: DURABLE },
);
// Lists rows, newest first: all rows, and rows by status, workflow or model. Unique indexes start with the owner, so that the collection
// can be sharded by owner.
rowSchema.index({ userId: 1, id: 1 }, { unique: true });
rowSchema.index({ userId: 1, status: 1, id: -1 });
rowSchema.index({ userId: 1, workflowSlug: 1, id: -1 });
rowSchema.index({ userId: 1, modelIds: 1, id: -1 });
// Finds rows that aren't in the totals yet.
rowSchema.index({ uncounted: 1, id: 1 }, { sparse: true });
// Used to remove the oldest rows.
rowSchema.index({ createdAt: 1 });

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

export const createStore = (connection: Connection) => {
  const rows = connection.model<RowDocument>("UsageRow", rowSchema);
  const insertRow = createInserter<RowDocument>(rows.collection as never, DURABLE);
  const updateRow = createUpdater(rows.collection as never, DURABLE);

  return {
    /** @returns the highest id of the newest rows; 0 if there are no rows */
    latestId: async (): Promise<number> => {
      const newest = await rows.find({}, { id: 1 }).sort({ createdAt: -1 }).limit(NEWEST_ROWS).lean<Pick<RowDocument, "id">[]>();
      return Math.max(0, ...newest.map(({ id }) => id));
    },

    /** @returns false if the execution already has a row */
    insert: ({ executionId, ...row }: UsageRow): Promise<boolean> => insertRow({ _id: executionId, ...row, uncounted: row.userId }),

    find: async (userId: string, executionId: string): Promise<UsageRow | undefined> => {
      const document = await rows.findOne({ _id: executionId, userId }).maxTimeMS(OPERATION_TIMEOUT_MS).lean<RowDocument | null>();
      return document ? toRow(document) : undefined;
    },

    /** Makes a row final, once. @returns false if there is no such row, undefined if the outcome is unknown */
    finish: (userId: string, executionId: string, outcome: Partial<UsageRow>): Promise<boolean | undefined> =>
      updateRow({ filter: { _id: executionId, userId, status: "processing" }, update: { $set: outcome } }),

    /** Returns rows, newest first. */
    page: async (query: RowsQuery, limit: number): Promise<UsageRow[]> => {
      const page = rows.find(rowFilter(query)).sort({ id: -1 }).skip(query.offset).limit(limit).maxTimeMS(OPERATION_TIMEOUT_MS);
      return (await page.lean<RowDocument[]>()).map(toRow);
    },

    /** Returns the costs of a workflow's newest completed runs. */
    costs: ({ userId, workflowSlug }: QuoteErrorQuery, limit: number): Promise<CostPart[]> =>
      rows
        .find({ userId, workflowSlug, status: "completed" }, COST_PART)
        .sort({ id: -1 })
        .limit(limit)
        .maxTimeMS(OPERATION_TIMEOUT_MS)
        .lean<CostPart[]>()
        .exec(),

    /** Reads all matching rows. Use it only for filters that the totals don't cover. */
    countAll: (query: RowsQuery): Promise<number> => rows.countDocuments(rowFilter(query)).maxTimeMS(OPERATION_TIMEOUT_MS).exec(),

    /** Reads all rows of a user. Use it only for filters that the totals don't cover. */
    modelNamesOfAll: async ({ userId, sources }: ModelNamesQuery): Promise<string[]> =>
      rows.distinct("modelIds", { userId, ...(sources.length > 0 ? { source: { $in: sources } } : {}) }),

    /** Returns rows outside the totals: rows in progress, and recent final rows. */
    uncounted: async (userId: string): Promise<CountedPart[]> =>
      (await rows.find({ uncounted: userId }, COUNTED_PART).maxTimeMS(OPERATION_TIMEOUT_MS).lean<RowDocument[]>()).map(toPart),

    /** Returns final rows whose runs began within a time range (end excluded) and an id range. */
    grouped: (userId: string, [from, to]: readonly [Date, Date], [first, last]: readonly [number, number]): AsyncIterable<GroupedPart> =>
      rows
        .find({ userId, id: { $gte: first, $lt: last }, createdAt: { $gte: from, $lt: to }, status: FINAL }, GROUPED_PART)
        .maxTimeMS(GROUPED_TIMEOUT_MS)
        .lean<GroupedPart[]>()
        .cursor({ batchSize: CURSOR_ROWS }) as unknown as AsyncIterable<GroupedPart>,

    /** Returns final rows that aren't in the totals, up to a limit. */
    countable: async (userId: string, limit: number): Promise<CountedPart[]> => {
      const documents = rows.find({ uncounted: userId, status: FINAL }, COUNTED_PART).limit(limit);
      return (await documents.maxTimeMS(OPERATION_TIMEOUT_MS).lean<RowDocument[]>()).map(toPart);
    },

    parts: async (executionIds: readonly string[]): Promise<CountedPart[]> =>
      (await rows.find({ _id: { $in: [...executionIds] } }, COUNTED_PART).lean<RowDocument[]>()).map(toPart),

    markCounted: async (executionIds: readonly string[]): Promise<void> => {
      const mark = { $set: { counted: true }, $unset: { uncounted: 1 } } as const;
      await rows.updateMany({ _id: { $in: [...executionIds] } }, mark, { writeConcern: MAJORITY });
    },

    /** Returns the oldest final rows created before a time, up to a limit. */
    expired: async (before: Date, limit: number): Promise<ExpiredRow[]> => {
      const query = rows
        .find({ createdAt: { $lt: before }, status: FINAL }, { userId: 1 })
        .sort({ createdAt: 1 })
        .limit(limit);
      return (await query.lean<RowDocument[]>()).map(({ _id, userId }) => ({ executionId: _id, userId }));
    },

    remove: async (executionIds: readonly string[]): Promise<void> => {
      await rows.deleteMany({ _id: { $in: [...executionIds] } }, { writeConcern: MAJORITY });
    },
  };
};
