import { groupBy } from "@nodeloom/kernel";
import { DURABLE, isDuplicateKey, retry } from "@nodeloom/platform";
import { Schema, type Connection, type UpdateQuery } from "mongoose";
import { emptyAccount, type Account } from "./account/account";
import { COMMITTED, createAuditStore, type LedgerDocument } from "./ledger/audit-store";
import type { LedgerRow } from "./account/movement";

type AccountDocument = Omit<Account, "userId"> & { _id: string };

/** An account whose month is over, and since when. */
export interface DueAccount {
  userId: string;
  renewsAt: Date;
}

/** Draining repeats what is durable already; it only has to become durable in the order in which it was done. */
const ORDERED = { w: "majority" } as const;
const UNORDERED = { ordered: false, ignoreUndefined: true, writeConcern: ORDERED as never } as const;
const OPERATION_TIMEOUT_MS = 10_000;
const LEDGER_CHUNK = 500;

// The account's inner shapes are built by pure, typed code and only ever replaced: casting each item again would cost
// more than the update itself.
const accountSchema = new Schema<AccountDocument>(
  {
    _id: { type: String, required: true },
    revision: Number,
    plan: Number,
    topUp: Number,
    held: Number,
    grants: [Schema.Types.Mixed],
    trials: [String],
    tier: String,
    monthlyMillicredits: Number,
    renewsAt: Date,
    renewalDay: Number,
    userRevision: { type: Number, default: 0 },
    period: Number,
    holds: [Schema.Types.Mixed],
    hasClosed: Boolean,
    sequence: Number,
    outbox: [Schema.Types.Mixed],
  },
  // Money is never told before it is written.
  { collection: "accounts", autoCreate: false, minimize: false, versionKey: false, writeConcern: DURABLE },
);
// Finds the accounts whose rows are still on their way to the ledger.
accountSchema.index({ "outbox.at": 1 });
// Finds the accounts whose month is over, in the order in which that happened.
accountSchema.index({ renewsAt: 1, _id: 1 });
// Finds the accounts with holds that are open for long.
accountSchema.index({ "holds.at": 1 });

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
    model: String,
    note: String,
    closed: Schema.Types.Mixed,
  },
  { collection: "ledger", autoCreate: false, minimize: false, versionKey: false, writeConcern: ORDERED },
);
// Lists an account's rows newest first, and lets no two rows take the same place.
ledgerSchema.index({ userId: 1, sequence: -1 }, { unique: true });

const toAccount = ({ _id, ...document }: AccountDocument): Account => ({ ...emptyAccount(_id), ...document });
const toRow = ({ _id, ...document }: LedgerDocument): LedgerRow => ({ id: _id, ...document });

const REPLACED = [
  "plan",
  "topUp",
  "held",
  "grants",
  "trials",
  "tier",
  "monthlyMillicredits",
  "renewsAt",
  "renewalDay",
  "userRevision",
  "period",
  "sequence",
] as const satisfies readonly (keyof Account)[];

/** How the list of holds changes: most often one is added or one is gone; a list that changes otherwise is replaced. */
const changesOfHolds = ({ revision, holds: before }: Account, { holds: after }: Account) => {
  if (revision > 0 && after === before) return {};
  const [was, is] = [new Set(before), new Set(after)];
  const added = after.filter((hold) => !was.has(hold));
  const gone = before.filter((hold) => !is.has(hold)).map(({ executionId }) => executionId);
  if (revision > 0 && gone.length === 0) return { push: { holds: { $each: added } } };
  if (revision > 0 && added.length === 0) return { pull: { holds: { executionId: { $in: gone } } } };
  return { set: { holds: after } };
};

/** Only what changed travels: lists that grow are appended to, the rest is replaced. */
const changes = (before: Account, after: Account): UpdateQuery<AccountDocument> => {
  const replaced = REPLACED.filter((name) => before.revision === 0 || after[name] !== before[name]);
  const outbox = after.outbox.slice(before.outbox.length);
  const { set, push, pull }: { set?: object; push?: object; pull?: object } = changesOfHolds(before, after);
  const pushed = { ...push, ...(outbox.length > 0 ? { outbox: { $each: outbox } } : {}) };
  return {
    $set: {
      revision: before.revision + 1,
      hasClosed: after.hasClosed,
      ...Object.fromEntries(replaced.map((name) => [name, after[name]])),
      ...set,
    },
    ...(Object.keys(pushed).length > 0 ? { $push: pushed } : {}),
    ...(pull ? { $pull: pull } : {}),
  };
};

const insertOnce = ({ id, ...rest }: LedgerRow) => ({
  updateOne: { filter: { _id: id } as object, update: { $setOnInsert: rest } as object, upsert: true },
});

export type BillingStore = ReturnType<typeof createStore>;

/** Accounts and their ledger in MongoDB. Every write is one conditional update of one document, or an insert by deterministic id. */
export const createStore = (connection: Connection) => {
  const accounts = connection.model<AccountDocument>("Account", accountSchema);
  const ledger = connection.model<LedgerDocument>("LedgerRow", ledgerSchema);
  const audit = createAuditStore(connection, ledger);

  /** Rows that are there already stay as they are. */
  const writeChunk = async (rows: readonly LedgerRow[]): Promise<void> => {
    const write = () => ledger.collection.bulkWrite(rows.map(insertOnce), UNORDERED);
    // Two upserts of one id may race, and one of them fails; it finds the row when it looks again.
    await retry(write, { pausesMs: [0], shouldRetry: isDuplicateKey });
  };

  return {
    ...audit,

    /** The account as stored; undefined for one that isn't. */
    load: async (userId: string): Promise<Account | undefined> => {
      const document = await accounts
        .findById(userId)
        .readConcern(COMMITTED)
        .maxTimeMS(OPERATION_TIMEOUT_MS)
        .lean<AccountDocument | null>();
      return document ? toAccount(document) : undefined;
    },

    /** Writes `after` if the account is still what `before` was read as; false if someone else was faster. */
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

    /** Ledger rows by id; absent ids are left out. */
    findRows: async (ids: readonly string[]): Promise<LedgerRow[]> => {
      const byId = { _id: { $in: [...ids] } } as object;
      const found = ledger.collection.find<LedgerDocument>(byId, { readConcern: COMMITTED as never, maxTimeMS: OPERATION_TIMEOUT_MS });
      return (await found.toArray()).map(toRow);
    },

    /** Appends rows to the ledger, each at most once. */
    appendRows: async (rows: readonly LedgerRow[]): Promise<void> => {
      for (let start = 0; start < rows.length; start += LEDGER_CHUNK) await writeChunk(rows.slice(start, start + LEDGER_CHUNK));
    },

    /** Takes rows that are in the ledger out of their accounts' outboxes. */
    dropFromOutbox: async (rows: readonly LedgerRow[]): Promise<void> => {
      const pulls = [...groupBy(rows, ({ userId }) => userId)].map(([userId, own]) => ({
        updateOne: { filter: { _id: userId } as object, update: { $pull: { outbox: { id: { $in: own.map(({ id }) => id) } } } } as object },
      }));
      if (pulls.length > 0) await accounts.collection.bulkWrite(pulls, UNORDERED);
    },

    /** Outboxes with a row older than a time, in order of their accounts' ids, from after a given one. */
    findOutboxes: async (olderThan: Date, afterUserId: string, limit: number): Promise<{ userId: string; rows: LedgerRow[] }[]> => {
      const found = await accounts
        .find({ _id: { $gt: afterUserId }, "outbox.at": { $lte: olderThan } }, { outbox: 1 })
        .sort({ _id: 1 })
        .limit(limit)
        .readConcern(COMMITTED)
        .lean<Pick<AccountDocument, "_id" | "outbox">[]>();
      return found.map(({ _id, outbox }) => ({ userId: _id, rows: outbox }));
    },

    /** Accounts with a hold older than a time, in order of their ids, from after a given one. */
    findHolds: async (olderThan: Date, afterUserId: string, limit: number): Promise<Pick<Account, "userId" | "holds">[]> => {
      const found = await accounts
        .find({ _id: { $gt: afterUserId }, "holds.at": { $lte: olderThan } }, { holds: 1 })
        .sort({ _id: 1 })
        .limit(limit)
        .maxTimeMS(OPERATION_TIMEOUT_MS)
        .lean<Pick<AccountDocument, "_id" | "holds">[]>();
      return found.map(({ _id, holds }) => ({ userId: _id, holds }));
    },

    /** An account's rows below a sequence number, newest first. */
    listRows: async (userId: string, below: number, limit: number): Promise<LedgerRow[]> => {
      const found = await ledger
        .find({ userId, sequence: { $lt: below } })
        .sort({ sequence: -1 })
        .limit(limit)
        .lean<LedgerDocument[]>();
      return found.map(toRow);
    },

    /** Accounts in order of their ids, from after a given one. */
    pageAccounts: async (afterUserId: string, limit: number): Promise<Account[]> => {
      const found = await accounts
        .find({ _id: { $gt: afterUserId } })
        .sort({ _id: 1 })
        .limit(limit)
        .readConcern(COMMITTED)
        .lean<AccountDocument[]>();
      return found.map(toAccount);
    },

    /** Accounts whose month was over at a time, longest first, from after a given one. */
    findDue: async (at: Date, after: DueAccount | undefined, limit: number): Promise<DueAccount[]> => {
      const found = await accounts
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
      return found.map(({ _id, renewsAt }) => ({ userId: _id, renewsAt }));
    },
  };
};
