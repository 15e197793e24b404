import { DomainError, expiresBefore, invalidRequest, isLonger, LIMITS, RETENTION, type Issue } from "@nodeloom/kernel";
import { createRemoval, fromCursor, pageOf, toCursor, untilNone, type Removal } from "@nodeloom/platform";
import type { AuditFilter, AuditStore } from "./audit-store";
import { pageSize } from "../page-size";
import type { AuditRecord } from "../records";

/** A row as its writer sends it. `outcome` is undefined if it is unknown. */
export interface AuditEntry extends Omit<AuditRecord, "_id" | "at" | "outcome"> {
  id: string;
  outcome: AuditRecord["outcome"] | undefined;
}

export interface AuditPage {
  rows: AuditRecord[];
  /** Empty on the last page. */
  nextCursor: string;
}

/**
 * Changes by administrators, changes to owners' keys, secrets, budgets and similar data, and events such as sign-ins. The row of a change
 * is written as pending before it and ended after it. A crash between the two leaves a pending row, never a change without a row.
 */
export interface Audit {
  /** Writes a new row, pending or ended, or ends a pending one. Ended rows never change. */
  record(entry: AuditEntry): Promise<AuditRecord>;
  /** @throws NOT_FOUND */
  find(ownerId: string, id: string): Promise<AuditRecord>;
  /** Returns ended rows whose messages to webhook endpoints are pending, oldest first. */
  unannounced(limit: number): Promise<AuditRecord[]>;
  noteAnnounced(ids: readonly string[]): Promise<void>;
  /** Removes expired rows, oldest first, one page per call. */
  removeExpired(cursor: string): Promise<Removal>;
  /** Returns rows, newest first. Without an owner, rows that only administrators can read. */
  list(query: { ownerId?: string; limit: number; cursor: string; filter?: AuditFilter | undefined }): Promise<AuditPage>;
}

const MAX_ID_CHARS = 64;
const REMOVED_PAGE = 1_000;
const MAX_UNANNOUNCED = 500;
const REQUIRED = ["id", "actorId", "action", "target"] as const;

const checkEntry = (entry: AuditEntry): AuditRecord["outcome"] => {
  const issues: Issue[] = REQUIRED.filter((path) => entry[path] === "").map((path) => ({ path, message: "is required" }));
  if (/\s/.test(entry.id) || entry.id.length > MAX_ID_CHARS) {
    issues.push({ path: "id", message: `must be at most ${MAX_ID_CHARS} characters without spaces` });
  }
  if (entry.outcome === undefined) issues.push({ path: "outcome", message: "must be pending, done or failed" });
  if (entry.outcome === undefined || issues.length > 0) throw invalidRequest(issues);
  return entry.outcome;
};

/** @param isSubscribed true if a webhook endpoint of the owner gets new rows */
export const createAudit = (
  store: AuditStore,
  isSubscribed: (ownerId: string) => Promise<boolean>,
  clock: () => number = Date.now,
): Audit => ({
  record: async (entry) => {
    const outcome = checkEntry(entry);
    const { id, errorCode, afterJson, beforeJson, ownerId = "", ip = "", ...fields } = entry;
    const ofOwner = { ...(ownerId === "" ? {} : { ownerId }), ...(ip === "" ? {} : { ip }) };
    const row: AuditRecord = { ...fields, ...ofOwner, outcome, beforeJson, afterJson: "", errorCode: "", _id: id, at: new Date(clock()) };
    if (outcome === "pending") {
      if (await store.insert(row)) return row;
    } else {
      const announced = ownerId !== "" && (await isSubscribed(ownerId)) ? { unannounced: true as const } : {};
      await store.end(row, { outcome, errorCode, afterJson, ...(beforeJson === "" ? {} : { beforeJson }), ...announced });
    }
    const stored = await store.find(id);
    if (!stored) throw new DomainError("internal", "INTERNAL", "an audit row was removed while it was written");
    return stored;
  },

  find: async (ownerId, id) => {
    const row = await store.find(id);
    if (row?.ownerId !== ownerId) throw new DomainError("not_found", "NOT_FOUND", "no such audit row");
    return row;
  },
  unannounced: (limit) => store.unannounced(Math.min(limit || MAX_UNANNOUNCED, MAX_UNANNOUNCED)),
  noteAnnounced: (ids) => store.noteAnnounced(ids.slice(0, MAX_UNANNOUNCED)),

  removeExpired: createRemoval({
    audit: async () => untilNone(await store.removeBefore(expiresBefore(RETENTION.audit, new Date(clock())), REMOVED_PAGE)),
  }),

  list: async ({ ownerId, limit, cursor, filter }) => {
    const size = pageSize(limit);
    if (filter && isLonger(filter.text, LIMITS.searchChars))
      throw invalidRequest([{ path: "q", message: `must have at most ${LIMITS.searchChars} characters` }]);
    const { rows: page, end } = await store.page({ ownerId, after: fromCursor(cursor), limit: size + 1, filter });
    const { rows, nextCursor } = pageOf(page, size, ({ at }) => at);
    return { rows, nextCursor: nextCursor === "" && end ? toCursor(end) : nextCursor };
  },
});
