import { groupBy } from "@nodeloom/kernel";
import { DURABLE, isDuplicateKey, retry } from "@nodeloom/platform";
import { Schema, type Connection } from "mongoose";
import type { Account } from "./account/account";
import { createCounterStore } from "./counter-store";
import { accountSchema, changes, toAccount, type AccountDocument } from "./account-store";
import { COMMITTED, createAuditStore, type LedgerDocument } from "./audit-store";
import type { LedgerRow, MovementKind } from "./account/movement";

/** An account that is due for renewal, and its due time. */
export interface DueAccount {
  userId: string;
  renewsAt: Date;
}

/** An account with rows in its outbox, and their ids, oldest first. */
export interface OwingAccount {
  userId: string;
  rows: string[];
}

/** Moving rows only copies durable data. Majority writes keep the order in which its steps become durable. */
const ORDERED = { w: "majority" } as const;
const UNORDERED = { ordered: false, ignoreUndefined: true, writeConcern: ORDERED as never } as const;
const OPERATION_TIMEOUT_MS = 10_000;
const LEDGER_CHUNK = 500;

const ledgerSchema = new Schema<LedgerDocument>(
  {
    _id: { type: String, required: true },
    userId: { type: String, required: true },
    sequence: { type: Number, required: true },
    kind: { type: String, required: true },
    millicredits: { type: Number, required: true },
    movedMillicredits: { type: Number, required: true },
    runs: { type: Number, required: true },
    at: { type: Date, required: true },
    executionId: String,
    keyId: String,
    model: String,
    note: String,
    closed: Schema.Types.Mixed,
  },
  { collection: "ledger", autoCreate: false, minimize: false, versionKey: false, writeConcern: ORDERED },
);
// Lists rows, newest first. Unique, so that no two rows have the same position.
ledgerSchema.index({ userId: 1, sequence: -1 }, { unique: true });

const toRow = ({ _id, ...document }: LedgerDocument): LedgerRow => ({ id: _id, ...document });

const insertOnce = ({ id, settled: _, ...rest }: LedgerRow) => ({
  updateOne: { filter: { _id: id } as object, update: { $setOnInsert: rest } as object, upsert: true },
});

export type BillingStore = ReturnType<typeof createStore>;

/**
 * Stores accounts, their ledger and counters in MongoDB. Every write is a conditional update of one document, or an insert with a
 * deterministic id.
 */
export const createStore = (connection: Connection) => {
  const accounts = connection.model<AccountDocument>("Account", accountSchema);
  const ledger = connection.model<LedgerDocument>("LedgerRow", ledgerSchema);
  const audit = createAuditStore(connection, ledger);

  /** Writes rows that don't exist yet. Existing rows aren't changed. */
  const writeChunk = async (rows: readonly LedgerRow[]): Promise<void> => {
    const write = () => ledger.collection.bulkWrite(rows.map(insertOnce), UNORDERED);
    // Two concurrent upserts of one id can make one of them fail. The retry finds the row.
    await retry(write, { pausesMs: [0], shouldRetry: isDuplicateKey });
  };

  return {
    ...audit,
    ...createCounterStore(connection),

    /** @returns undefined for an account that isn't stored */
    load: async (userId: string): Promise<Account | undefined> => {
      const document = await accounts
        .findById(userId)
        .readConcern(COMMITTED)
        .maxTimeMS(OPERATION_TIMEOUT_MS)
        .lean<AccountDocument | null>();
      return document ? toAccount(document) : undefined;
    },

    /** Writes `after` if the account hasn't changed since it was read as `before`. @returns false otherwise */
    commit: async (before: Account, after: Account): Promise<boolean> => {
      try {
        const asRead = { _id: before.userId, revision: before.revision } as object;
        const result = await accounts.collection.updateOne(asRead, changes(before, after) as object, {
          upsert: before.revision === 0,
          maxTimeMS: OPERATION_TIMEOUT_MS,
          writeConcern: DURABLE as never,
          ignoreUndefined: true,
        });
        return result.matchedCount + result.upsertedCount === 1;
      } catch (error) {
        if (before.revision === 0 && isDuplicateKey(error)) return false;
        throw error;
      }
    },

    /** Returns rows by id. Missing ids are left out. */
    findRows: async (ids: readonly string[]): Promise<LedgerRow[]> => {
      const byId = { _id: { $in: [...ids] } } as object;
      const documents = ledger.collection.find<LedgerDocument>(byId, { readConcern: COMMITTED as never, maxTimeMS: OPERATION_TIMEOUT_MS });
      return (await documents.toArray()).map(toRow);
    },

    /** Appends rows, each at most once. */
    appendRows: async (rows: readonly LedgerRow[]): Promise<void> => {
      for (let start = 0; start < rows.length; start += LEDGER_CHUNK) await writeChunk(rows.slice(start, start + LEDGER_CHUNK));
    },

    /** Removes rows from outboxes once they are in the ledger. */
    dropFromOutbox: async (rows: readonly LedgerRow[]): Promise<void> => {
      const pulls = [...groupBy(rows, ({ userId }) => userId)].map(([userId, own]) => ({
        updateOne: { filter: { _id: userId } as object, update: { $pull: { outbox: { id: { $in: own.map(({ id }) => id) } } } } as object },
      }));
      if (pulls.length > 0) await accounts.collection.bulkWrite(pulls, UNORDERED);
    },

    /** Returns accounts with rows in their outboxes, after the given id, ordered by id. */
    findOutboxes: async (limit: number, afterUserId = ""): Promise<OwingAccount[]> => {
      const documents = await accounts
        .find({ _id: { $gt: afterUserId }, "outbox.at": { $gt: new Date(0) } }, { "outbox.id": 1 })
        .sort({ _id: 1 })
        .limit(limit)
        .readConcern(COMMITTED)
        .lean<Pick<AccountDocument, "_id" | "outbox">[]>();
      return documents.map(({ _id, outbox }) => ({ userId: _id, rows: outbox.map(({ id }) => id) }));
    },

    /** Returns accounts with a hold older than a time, after the given id, ordered by id. */
    findHolds: async (olderThan: Date, afterUserId: string, limit: number): Promise<Pick<Account, "userId" | "holds">[]> => {
      const documents = await accounts
        .find({ _id: { $gt: afterUserId }, "holds.at": { $lte: olderThan } }, { holds: 1 })
        .sort({ _id: 1 })
        .limit(limit)
        .maxTimeMS(OPERATION_TIMEOUT_MS)
        .lean<Pick<AccountDocument, "_id" | "holds">[]>();
      return documents.map(({ _id, holds }) => ({ userId: _id, holds }));
    },

    /** Returns accounts with pending alerts, after the given id, ordered by id. */
    findAlerts: async (afterUserId: string, limit: number): Promise<Pick<Account, "userId" | "budgetAlerts">[]> => {
      const documents = await accounts
        .find({ _id: { $gt: afterUserId }, "budgetAlerts.at": { $gt: new Date(0) } }, { budgetAlerts: 1 })
        .sort({ _id: 1 })
        .limit(limit)
        .readConcern(COMMITTED)
        .maxTimeMS(OPERATION_TIMEOUT_MS)
        .lean<Pick<AccountDocument, "_id" | "budgetAlerts">[]>();
      return documents.map(({ _id, budgetAlerts }) => ({ userId: _id, budgetAlerts }));
    },

    /** Removes notes, keys and other text from an account's rows. @returns number of rows */
    emptyRows: async (userId: string): Promise<number> => {
      const noteOrKey = [{ note: { $exists: true } }, { keyId: { $exists: true } }];
      const emptied = await ledger.updateMany({ userId, $or: noteOrKey }, { $unset: { note: 1, keyId: 1 } });
      // Rows still record that an execution was closed, so that it can't be closed again.
      const closed = await ledger.updateMany({ userId, "closed.items.0": { $exists: true } } as object, { $set: { "closed.items": [] } });
      return emptied.modifiedCount + closed.modifiedCount;
    },

    /** Returns rows below a sequence number, newest first. @param kind limits the rows to one kind */
    listRows: async (userId: string, below: number, limit: number, kind?: MovementKind): Promise<LedgerRow[]> => {
      const documents = await ledger
        .find({ userId, sequence: { $lt: below }, ...(kind ? { kind } : {}) })
        .sort({ sequence: -1 })
        .limit(limit)
        .maxTimeMS(OPERATION_TIMEOUT_MS)
        .lean<LedgerDocument[]>();
      return documents.map(toRow);
    },

    /** Returns accounts after the given id, ordered by id. */
    pageAccounts: async (afterUserId: string, limit: number): Promise<Account[]> => {
      const documents = await accounts
        .find({ _id: { $gt: afterUserId } })
        .sort({ _id: 1 })
        .limit(limit)
        .readConcern(COMMITTED)
        .lean<AccountDocument[]>();
      return documents.map(toAccount);
    },

    /** Returns accounts due at a time, longest overdue first, after the given account. */
    findDue: async (at: Date, after: DueAccount | undefined, limit: number): Promise<DueAccount[]> => {
      const documents = await accounts
        .find(
          after
            ? { $or: [{ renewsAt: after.renewsAt, _id: { $gt: after.userId } }, { renewsAt: { $gt: after.renewsAt, $lte: at } }] }
            : { renewsAt: { $lte: at } },
          { renewsAt: 1 },
        )
        .sort({ renewsAt: 1, _id: 1 })
        .limit(limit)
        .maxTimeMS(OPERATION_TIMEOUT_MS)
        .lean<{ _id: string; renewsAt: Date }[]>();
      return documents.map(({ _id, renewsAt }) => ({ userId: _id, renewsAt }));
    },
  };
};
