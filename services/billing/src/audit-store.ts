import { DURABLE, insertOnce } from "@nodeloom/platform";
import { Schema, type Connection, type Model } from "mongoose";
import type { Account } from "./account/account";
import type { LedgerRow, MovementKind } from "./account/movement";

export interface RowTotal {
  kind: MovementKind;
  model: string | null;
  millicredits: number;
  movedMillicredits: number;
  runs: number;
  rows: number;
}

export interface LedgerTotal extends RowTotal {
  userId: string;
}

/** Totals of an account's rows from the first one on. An account has one checkpoint a year, which is advanced during the year. */
export interface Checkpoint {
  userId: string;
  /** Year of the newest row that the checkpoint includes, in UTC. `STOPPED` for the rows that an unfinished check has summed. */
  year: number;
  /** Sequence number of the newest row that the checkpoint includes. */
  sequence: number;
  totals: RowTotal[];
  at: Date;
}

/** Rows of one account to sum: after one sequence number and up to another, without rows in the outbox. */
export type RowRange = Pick<Account, "userId" | "sequence" | "outbox"> & { after?: number };

export type LedgerDocument = Omit<LedgerRow, "id"> & { _id: string };
type CheckpointDocument = Checkpoint & { _id: string };

/** Reads that decide about money must not see a write that a failover could roll back. */
export const COMMITTED = "majority";

/** Year of the checkpoint from which a check continues that ran out of time. Nothing else uses it. */
const STOPPED = 0;

const checkpointSchema = new Schema<CheckpointDocument>(
  {
    _id: { type: String, required: true },
    userId: { type: String, required: true },
    year: { type: Number, required: true },
    sequence: { type: Number, required: true },
    totals: [Schema.Types.Mixed],
    at: { type: Date, required: true },
  },
  { collection: "checkpoints", autoCreate: false, minimize: false, versionKey: false, writeConcern: DURABLE },
);
// Lists an account's checkpoints, newest first.
checkpointSchema.index({ userId: 1, year: -1 }, { unique: true });

/** Queries for audits: totals of rows, and checkpoints that replace most of the rows. */
export const createAuditStore = (connection: Connection, ledger: Model<LedgerDocument>) => {
  const checkpoints = connection.model<CheckpointDocument>("Checkpoint", checkpointSchema);
  const stoppedId = (userId: string): string => `${userId}:${STOPPED}`;
  return {
    /** Returns ids of users with ledger rows, in order. The range starts after one id and ends at another, or at the last id. */
    pageLedgerUsers: async (afterUserId: string, upToUserId: string | undefined, limit: number): Promise<string[]> => {
      const documents = await ledger
        .find({ userId: { $gt: afterUserId, ...(upToUserId === undefined ? {} : { $lte: upToUserId }) }, sequence: 1 }, { userId: 1 })
        .sort({ userId: 1 })
        .limit(limit)
        .readConcern(COMMITTED)
        .lean<Pick<LedgerDocument, "userId">[]>();
      return documents.map(({ userId }) => userId);
    },

    /** Returns totals of accounts' ledger rows at the time of the read. Rows in outboxes are excluded. */
    totals: async (ranges: readonly RowRange[]): Promise<LedgerTotal[]> => {
      if (ranges.length === 0) return [];
      const ofRanges = ranges.map(({ userId, sequence, outbox, after = 0 }) => ({
        userId,
        sequence: { $gt: after, $lte: sequence },
        _id: { $nin: outbox.map((row) => row.id) },
      }));
      return ledger
        .aggregate<LedgerTotal>([
          { $match: { $or: ofRanges } },
          {
            $group: {
              _id: { userId: "$userId", kind: "$kind", model: "$model" },
              millicredits: { $sum: "$millicredits" },
              movedMillicredits: { $sum: "$movedMillicredits" },
              runs: { $sum: "$runs" },
              rows: { $sum: 1 },
            },
          },
          {
            $project: {
              _id: 0,
              userId: "$_id.userId",
              kind: "$_id.kind",
              model: "$_id.model",
              millicredits: 1,
              movedMillicredits: 1,
              runs: 1,
              rows: 1,
            },
          },
        ])
        .readConcern(COMMITTED);
    },

    /** Returns checkpoints, newest first. */
    checkpointsOf: async (userIds: readonly string[]): Promise<Checkpoint[]> => {
      const documents = await checkpoints
        .find({ userId: { $in: [...userIds] }, year: { $gt: STOPPED } })
        .sort({ userId: 1, year: -1 })
        .readConcern(COMMITTED)
        .lean<CheckpointDocument[]>();
      return documents.map(({ _id: _, ...checkpoint }) => checkpoint);
    },

    /** Adds a year's checkpoint, or advances it from an earlier row. @returns false if another process did so before */
    advanceCheckpoint: async (checkpoint: Checkpoint, from: Checkpoint | undefined): Promise<boolean> => {
      const _id = `${checkpoint.userId}:${checkpoint.year}`;
      if (from?.year !== checkpoint.year) return insertOnce(checkpoints.create([{ _id, ...checkpoint }]));
      const { sequence, totals, at } = checkpoint;
      const { modifiedCount } = await checkpoints.updateOne({ _id, sequence: from.sequence }, { $set: { sequence, totals, at } });
      return modifiedCount === 1;
    },

    /** Returns the rows that an unfinished check of an account has summed. */
    stoppedCheck: async (userId: string): Promise<Pick<Checkpoint, "sequence" | "totals"> | undefined> => {
      const document = await checkpoints.findById(stoppedId(userId)).readConcern(COMMITTED).lean<CheckpointDocument | null>();
      return document ? { sequence: document.sequence, totals: document.totals } : undefined;
    },

    /** Stores the rows that a check has summed so far. */
    stopCheck: async (summed: Omit<Checkpoint, "year">): Promise<void> => {
      await checkpoints.updateOne({ _id: stoppedId(summed.userId) }, { $set: { ...summed, year: STOPPED } }, { upsert: true });
    },

    endCheck: async (userId: string): Promise<void> => void (await checkpoints.deleteOne({ _id: stoppedId(userId) })),

    firstRowAfter: async (userId: string, sequence: number): Promise<Pick<LedgerRow, "sequence" | "at"> | undefined> => {
      const row = await ledger
        .findOne({ userId, sequence: { $gt: sequence } }, { sequence: 1, at: 1 })
        .sort({ sequence: 1 })
        .readConcern(COMMITTED)
        .lean<Pick<LedgerDocument, "sequence" | "at"> | null>();
      return row ?? undefined;
    },

    /** Returns the sequence number of the newest row before a time. */
    lastSequenceBefore: async (userId: string, before: Date): Promise<number> => {
      const row = await ledger
        .findOne({ userId, at: { $lt: before } }, { sequence: 1 })
        .sort({ sequence: -1 })
        .readConcern(COMMITTED)
        .lean<Pick<LedgerDocument, "sequence"> | null>();
      return row?.sequence ?? 0;
    },
  };
};
