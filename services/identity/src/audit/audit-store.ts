import { beyond, insertOnce, removeSome, type ListPosition } from "@nodeloom/platform";
import type { Model } from "mongoose";
import type { AuditRecord } from "../records";

export type AuditEnd = Pick<AuditRecord, "outcome" | "errorCode" | "afterJson"> & Partial<Pick<AuditRecord, "beforeJson">>;

export interface AuditStore {
  /** @returns false if the id exists */
  insert(row: AuditRecord): Promise<boolean>;
  /** Ends a pending row; other rows stay unchanged. */
  end(id: string, end: AuditEnd): Promise<void>;
  find(id: string): Promise<AuditRecord | null>;
  /** Removes a page of rows from before a time, oldest first. @returns the number of removed rows */
  removeBefore(before: Date, limit: number): Promise<number>;
  /** Returns rows, newest first. @param ownerId undefined for rows that only administrators can read */
  page(ownerId: string | undefined, after: ListPosition | undefined, limit: number): Promise<AuditRecord[]>;
}

export const createAuditStore = (audit: Model<AuditRecord>): AuditStore => ({
  insert: async (row) => {
    return insertOnce(audit.create([row]));
  },
  end: async (id, end) => void (await audit.updateOne({ _id: id, outcome: "pending" }, { $set: end })),
  removeBefore: (before, limit) => removeSome(audit, { at: { $lt: before } }, limit, { at: 1, _id: 1 }),
  find: (id) => audit.findById(id).lean<AuditRecord>().exec(),
  page: (ownerId, after, limit) => {
    const ofOwner: object = { ownerId: ownerId ?? null };
    return audit
      .find({ ...ofOwner, ...beyond("at", after, "$lt") })
      .sort({ at: -1, _id: -1 })
      .limit(limit)
      .lean<AuditRecord[]>()
      .exec();
  },
});
