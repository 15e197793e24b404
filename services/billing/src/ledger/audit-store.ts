import { DURABLE, insertOnce } from "@nodeloom/platform";
import { Schema, type Connection, type Model } from "mongoose";
import type { Account } from "../account/account";
import type { LedgerRow, MovementKind } from "../account/movement";

/** What rows of one kind (and model) add up to. */
export interface RowTotal {
  kind: MovementKind;
  model: string | null;
  millicredits: number;
  movedMillicredits: number;
  runs: number;
  rows: number;
}

/** Rows of one account and kind (and model) in the ledger, as an aggregate. */
export interface LedgerTotal extends RowTotal {
  userId: string;
}

/** What an account's rows add up to, from its first to its last of a year. */
export interface Checkpoint {
  userId: string;
  /** The last year in it, by UTC. */
  year: number;
  /** Of the newest row in it; rows have no gaps. */
  sequence: number;
  totals: RowTotal[];
  at: Date;
}

/** Rows of one account that are added up: after one sequence number, up to another, without those in the outbox. */
export type RowRange = Pick<Account, "userId" | "sequence" | "outbox"> & { after?: number };

export type LedgerDocument = Omit<LedgerRow, "id"> & { _id: string };
type CheckpointDocument = Checkpoint & { _id: string };

/** A read that decides about money never sees a write that a failover could still take back. */
export const COMMITTED = "majority";

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
// An account's checkpoints, newest first.
checkpointSchema.index({ userId: 1, year: -1 }, { unique: true });

/** What an audit reads: sums of rows, and the checkpoints that spare it most of them. */
export const createAuditStore = (connection: Connection, ledger: Model<LedgerDocument>) => {
  const checkpoints = connection.model<CheckpointDocument>("Checkpoint", checkpointSchema);
  return {
    /** Users with rows in the ledger, in order of their ids, from after a given one up to another (or to the end). */
    pageLedgerUsers: async (afterUserId: string, upToUserId: string | undefined, limit: number): Promise<string[]> => {
      const found = await ledger
        .find({ userId: { $gt: afterUserId, ...(upToUserId === undefined ? {} : { $lte: upToUserId }) }, sequence: 1 }, { userId: 1 })
        .sort({ userId: 1 })
        .limit(limit)
        .readConcern(COMMITTED)
        .lean<Pick<LedgerDocument, "userId">[]>();
      return found.map(({ userId }) => userId);
    },

    /** Sums the drained rows of each account up to the moment it was read; rows it still carries are left out. */
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

    /** The checkpoints of some accounts, newest first. */
    checkpointsOf: async (userIds: readonly string[]): Promise<Checkpoint[]> => {
      const found = await checkpoints
        .find({ userId: { $in: [...userIds] } })
        .sort({ userId: 1, year: -1 })
        .readConcern(COMMITTED)
        .lean<CheckpointDocument[]>();
      return found.map(({ _id: _, ...checkpoint }) => checkpoint);
    },

    /** Writes a checkpoint; one that is there already stays as it is. @returns whether it was written */
    addCheckpoint: async (checkpoint: Checkpoint): Promise<boolean> => {
      const _id = `${checkpoint.userId}:${checkpoint.year}`;
      return insertOnce(checkpoints.create([{ _id, ...checkpoint }]));
    },

    /** An account's oldest row after a sequence number. */
    firstRowAfter: async (userId: string, sequence: number): Promise<Pick<LedgerRow, "sequence" | "at"> | undefined> => {
      const row = await ledger
        .findOne({ userId, sequence: { $gt: sequence } }, { sequence: 1, at: 1 })
        .sort({ sequence: 1 })
        .readConcern(COMMITTED)
        .lean<Pick<LedgerDocument, "sequence" | "at"> | null>();
      return row ?? undefined;
    },

    /** The sequence number of an account's newest row from before a time. */
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
