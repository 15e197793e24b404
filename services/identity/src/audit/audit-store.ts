import { beyond, escapeRegExp, insertOnce, removeSome, type ListPosition } from "@nodeloom/platform";
import type { Model } from "mongoose";
import type { AuditRecord } from "../records";

export type AuditEnd = Pick<AuditRecord, "outcome" | "errorCode" | "afterJson"> & Partial<Pick<AuditRecord, "beforeJson" | "unannounced">>;

/** Empty and undefined members match every row. */
export interface AuditFilter {
  /** An action, or all that begin with it if it ends with a dot. */
  action: string;
  actorId: string;
  keyId: string;
  target: string;
  from?: Date | undefined;
  to?: Date | undefined;
  /** Occurs in the action, target, change or error, in any case. */
  text: string;
}

export interface AuditQuery {
  /** Undefined for rows that only administrators can read. */
  ownerId: string | undefined;
  after: ListPosition | undefined;
  limit: number;
  filter: AuditFilter | undefined;
}

export interface AuditFound {
  rows: AuditRecord[];
  /** Oldest row that was searched, if the search ended before the last one. */
  end: ListPosition | undefined;
}

export interface AuditStore {
  /** @returns false if the id exists */
  insert(row: AuditRecord): Promise<boolean>;
  /** Ends the pending row of the id, or inserts the ended row if there is none; ended rows stay unchanged. */
  end(row: AuditRecord, end: AuditEnd): Promise<void>;
  find(id: string): Promise<AuditRecord | null>;
  /** Returns rows with pending messages, oldest first. */
  unannounced(limit: number): Promise<AuditRecord[]>;
  noteAnnounced(ids: readonly string[]): Promise<void>;
  /** Removes a page of rows from before a time, oldest first. @returns the number of removed rows */
  removeBefore(before: Date, limit: number): Promise<number>;
  /** Returns rows, newest first. */
  page(query: AuditQuery): Promise<AuditFound>;
}

/** Maximum rows that one page of a filtered list searches. */
const SEARCHED = 20_000;
const TEXTS = ["action", "target", "changeJson", "errorCode"] as const;

const actionOf = (action: string): unknown => (action.endsWith(".") ? { $regex: `^${escapeRegExp(action)}` } : action);

const wantedBy = ({ action, text, actorId, keyId, target }: AuditFilter): object[] => [
  ...(action === "" ? [] : [{ action: actionOf(action) }]),
  ...Object.entries({ actorId, keyId, target }).flatMap(([name, value]) => (value === "" ? [] : [{ [name]: value }])),
  ...(text === "" ? [] : [{ $or: TEXTS.map((name) => ({ [name]: { $regex: escapeRegExp(text), $options: "i" } })) }]),
];

const between = ({ from, to }: Pick<AuditFilter, "from" | "to">): object[] => [
  ...(from ? [{ at: { $gte: from } }] : []),
  ...(to ? [{ at: { $lt: to } }] : []),
];

export const createAuditStore = (audit: Model<AuditRecord>): AuditStore => {
  const newest = (conditions: object[], limit: number, skip = 0): Promise<AuditRecord[]> =>
    audit.find({ $and: conditions }).sort({ at: -1, _id: -1 }).skip(skip).limit(limit).lean<AuditRecord[]>().exec();

  return {
    insert: async (row) => {
      return insertOnce(audit.create([row]));
    },
    end: async ({ _id, outcome: _outcome, errorCode: _errorCode, afterJson: _afterJson, beforeJson, ...row }, end) => {
      const inserted = "beforeJson" in end ? row : { ...row, beforeJson };
      // The row of an id that has ended isn't found, so its insertion fails.
      await insertOnce(audit.updateOne({ _id, outcome: "pending" }, { $set: end, $setOnInsert: inserted }, { upsert: true }).exec());
    },
    removeBefore: (before, limit) => removeSome(audit, { at: { $lt: before } }, limit, { at: 1, _id: 1 }),
    find: (id) => audit.findById(id).lean<AuditRecord>().exec(),
    unannounced: (limit) => audit.find({ unannounced: true }).sort({ at: 1, _id: 1 }).limit(limit).lean<AuditRecord[]>().exec(),
    noteAnnounced: async (ids) => void (await audit.updateMany({ _id: { $in: ids } }, { $unset: { unannounced: "" } })),
    page: async ({ ownerId, after, limit, filter }) => {
      const range = [{ ownerId: ownerId ?? null }, beyond("at", after, "$lt"), ...(filter ? between(filter) : [])];
      const filterParts = filter ? wantedBy(filter) : [];
      if (filterParts.length === 0) return { rows: await newest(range, limit), end: undefined };
      const [last] = await newest(range, 1, SEARCHED - 1);
      const end = last && { at: last.at, id: last._id };
      const searched = end ? [{ $or: [{ at: { $gt: end.at } }, { at: end.at, _id: { $gte: end.id } }] }] : [];
      return { rows: await newest([...range, ...searched, ...filterParts], limit), end };
    },
  };
};
