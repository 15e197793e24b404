import { insertOnce } from "@nodeloom/platform";
import type { Model } from "mongoose";
import type { Position } from "../position";
import type { AuditRecord } from "../records";

export type AuditEnd = Pick<AuditRecord, "outcome" | "errorCode" | "afterJson"> & Partial<Pick<AuditRecord, "beforeJson">>;

export interface AuditStore {
  /** False when there is a row of this id. */
  insert(row: AuditRecord): Promise<boolean>;
  /** Ends a pending row; does nothing to any other. */
  end(id: string, end: AuditEnd): Promise<void>;
  find(id: string): Promise<AuditRecord | null>;
  /** Removes rows from before a time, oldest first, some at a time. @returns how many */
  prune(before: Date, limit: number): Promise<number>;
  /** Newest first. */
  page(after: Position | undefined, limit: number): Promise<AuditRecord[]>;
}

export const createAuditStore = (audit: Model<AuditRecord>): AuditStore => ({
  insert: async (row) => {
    return insertOnce(audit.create([row]));
  },
  end: async (id, end) => void (await audit.updateOne({ _id: id, outcome: "pending" }, { $set: end })),
  prune: async (before, limit) => {
    const found = await audit
      .find({ at: { $lt: before } }, { _id: 1 })
      .sort({ at: 1, _id: 1 })
      .limit(limit)
      .lean<Pick<AuditRecord, "_id">[]>()
      .exec();
    if (found.length === 0) return 0;
    return (await audit.deleteMany({ _id: { $in: found.map(({ _id }) => _id) }, at: { $lt: before } })).deletedCount;
  },
  find: (id) => audit.findById(id).lean<AuditRecord>().exec(),
  page: (after, limit) =>
    audit
      .find(after ? { $or: [{ at: { $lt: after.at } }, { at: after.at, _id: { $lt: after.id } }] } : {})
      .sort({ at: -1, _id: -1 })
      .limit(limit)
      .lean<AuditRecord[]>()
      .exec(),
});
