/** Reads batches in lists. */
import { beyond, type ListPosition } from "@nodeloom/platform";
import type { Model } from "mongoose";
import { OPEN_BATCHES, type BatchRecord } from "../run/batch";

/** Fields that the relay reads. */
const OPEN = { userId: 1, status: 1, createdAt: 1 } as const;
export type OpenBatch = Pick<BatchRecord, "_id" | keyof typeof OPEN>;

export const createBatchLists = (batches: Model<BatchRecord>) => ({
  findOwned: (id: string, userId: string): Promise<BatchRecord | null> =>
    batches
      .findOne({ _id: id, userId, status: { $ne: "preparing" } })
      .lean<BatchRecord>()
      .exec(),

  list: (userId: string, limit: number, before?: ListPosition): Promise<BatchRecord[]> =>
    batches
      .find({ userId, status: { $ne: "preparing" }, ...beyond("createdAt", before, "$lt") })
      .sort({ createdAt: -1, _id: -1 })
      .limit(limit)
      .lean<BatchRecord[]>()
      .exec(),

  /** Returns batches that ran the tests of a workflow, newest first, and their comparison batches. */
  tested: (userId: string, slug: string, limit: number): Promise<BatchRecord[]> =>
    batches
      .find({ userId, "test.slug": slug, status: { $ne: "preparing" } })
      .sort({ createdAt: -1, _id: -1 })
      .limit(limit)
      .lean<BatchRecord[]>()
      .exec(),

  /** Returns the test runs of a workflow, newest first. */
  testRuns: (userId: string, slug: string, limit: number, before?: ListPosition): Promise<BatchRecord[]> =>
    batches
      .find({
        ...{ userId, "test.slug": slug, "test.of": { $exists: false }, status: { $ne: "preparing" } },
        ...beyond("createdAt", before, "$lt"),
      })
      .sort({ createdAt: -1, _id: -1 })
      .limit(limit)
      .lean<BatchRecord[]>()
      .exec(),

  open: (userId: string): Promise<BatchRecord[]> =>
    batches
      .find({ userId, status: { $in: [...OPEN_BATCHES] } })
      .lean<BatchRecord[]>()
      .exec(),

  /** Returns expired batches whose end was announced, in order of their expiry. */
  due: (now: Date, limit: number, after?: Pick<BatchRecord, "eraseAt" | "_id">): Promise<BatchRecord[]> =>
    batches
      .find({
        eraseAt: { $lte: now },
        isCarried: { $ne: true },
        ...beyond("eraseAt", after?.eraseAt && { at: after.eraseAt, id: after._id }),
      })
      .sort({ eraseAt: 1, _id: 1 })
      .limit(limit)
      .lean<BatchRecord[]>()
      .exec(),

  /** Returns batches with pending work after the given id, ordered by id. */
  openBatches: (limit: number, after = ""): Promise<OpenBatch[]> =>
    batches
      .find({ isCarried: true, _id: { $gt: after } }, OPEN)
      .sort({ _id: 1 })
      .limit(limit)
      .lean<OpenBatch[]>()
      .exec(),
});
