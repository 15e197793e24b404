/** Reads, counts and erases one account's data in executions. */
import { removeSome } from "@nodeloom/platform";
import type { Connection } from "mongoose";
import { OPEN_BATCHES, type BatchRecord, type BatchRow } from "../../run/batch";
import type { ExecutionRecord } from "../../run/record";
import { FINAL_STATUSES, HIDDEN, OVER } from "../../run/states";

/** Members of a run that are needed to end it and its webhooks. */
export type RunMark = Pick<ExecutionRecord, "_id" | "status"> & { webhook?: unknown; waits?: unknown };
type Mark = Pick<ExecutionRecord, "_id" | "createdAt">;

const UNDER_WAY = { status: { $nin: [...OVER] } };
const MARK = { projection: { status: 1, webhook: 1 } } as const;

export type LeavingStore = ReturnType<typeof createLeavingStore>;

/** @param connection connection on which the models are registered */
export const createLeavingStore = (connection: Connection) => {
  const { Execution, Call, Submission, DecisionLink, Batch, BatchRow: Row, Line } = connection.models;
  const collection = <T extends object>(model: typeof Execution) => model!.collection as unknown as import("mongoose").mongo.Collection<T>;
  const executions = collection<ExecutionRecord>(Execution);
  const batches = collection<BatchRecord>(Batch);

  return {
    /** @param createdBy only runs up to this time */
    underWay: (userId: string, limit: number, createdBy?: Date): Promise<RunMark[]> =>
      executions
        .find<RunMark>({ userId, ...UNDER_WAY, ...(createdBy ? { createdAt: { $lte: createdBy } } : {}) } as object, { ...MARK, limit })
        .toArray(),

    /** Counts a user's runs that are under way or have outbox entries, and open batches. */
    countOpen: async (userId: string): Promise<number> => {
      const counts = await Promise.all([
        executions.countDocuments({ userId, ...UNDER_WAY } as object),
        executions.countDocuments({ userId, unsettled: true, status: { $in: [...FINAL_STATUSES] } } as object),
        batches.countDocuments({ userId, status: { $in: [...OPEN_BATCHES] } } as object),
      ]);
      return counts.reduce((sum, count) => sum + count, 0);
    },

    /** Returns ids of a user's runs after a mark, oldest first, including items of batches. */
    runIds: async (userId: string, limit: number, after: Mark | undefined): Promise<Mark[]> => {
      const behind = after
        ? { $or: [{ createdAt: { $gt: after.createdAt } }, { createdAt: after.createdAt, _id: { $gt: after._id } }] }
        : {};
      const filter = { userId, status: { $nin: [...HIDDEN] }, ...behind } as object;
      return executions.find<Mark>(filter, { projection: { createdAt: 1 }, sort: { createdAt: 1, _id: 1 }, limit }).toArray();
    },

    /** Returns a page of a user's runs in any order, because they are erased next. */
    somePage: (userId: string, limit: number): Promise<RunMark[]> =>
      executions.find<RunMark>({ userId } as object, { ...MARK, limit }).toArray(),

    /** Deletes runs with their calls, submissions and links. Data that only a row points to is deleted before the row. */
    removeRuns: async (userId: string, ids: readonly string[]): Promise<number> => {
      await collection(Call).deleteMany({ executionId: { $in: [...ids] } });
      await collection(DecisionLink).deleteMany({ executionId: { $in: [...ids] } });
      // A submission's id starts with the id of its run.
      for (const id of ids) await collection(Submission).deleteMany({ _id: { $gte: `${id}:`, $lt: `${id};` } } as object);
      return (await executions.deleteMany({ userId, _id: { $in: [...ids] } } as object)).deletedCount;
    },

    someBatches: (userId: string, limit: number): Promise<Pick<BatchRecord, "_id">[]> =>
      batches.find<Pick<BatchRecord, "_id">>({ userId } as object, { projection: { _id: 1 }, limit }).toArray(),

    removeBatches: async (userId: string, ids: readonly string[]): Promise<number> => {
      await collection<BatchRow>(Row).deleteMany({ batchId: { $in: [...ids] } } as object);
      return (await batches.deleteMany({ userId, _id: { $in: [...ids] } } as object)).deletedCount;
    },

    removeLine: (userId: string): Promise<number> => removeSome(Line as never, { _id: userId }, 1),
  };
};
