import { insertOnce, isDuplicateKey } from "@nodeloom/platform";
import { Schema, type AnyBulkWriteOperation, type Connection, type Model } from "mongoose";
import { dayKey, type Delta, type Deltas, type Numbers } from "./totals";

/** Rows that are being added to their user's totals, or subtracted and deleted. */
export interface Fold {
  number: number;
  executionIds: string[];
  removes?: boolean;
}

export interface Progress {
  /** Number of completed folds. */
  folds: number;
  /** A fold that has started and may be incomplete. */
  pending: Fold | null;
}

interface ProgressDocument extends Progress {
  _id: string;
}
interface TotalDocument {
  _id: string;
  /** Number of the last fold that was added. */
  fold: number;
  counts?: Numbers;
  models?: Numbers;
  sums?: Numbers;
}

const OPERATION_TIMEOUT_MS = 10_000;
const NOTHING: Progress = { folds: 0, pending: null };
const BULK_OPERATIONS = 1_000;

const schemaOf = <T>(definition: Record<string, unknown>, collection: string): Schema<T> =>
  new Schema<T>(definition as never, { collection, id: false, autoCreate: false, minimize: false, versionKey: false } as never);

const progressSchema = schemaOf<ProgressDocument>(
  { _id: { type: String, required: true }, folds: { type: Number, required: true }, pending: { type: Object, default: null } },
  "usage_folds",
);
const totalSchema = schemaOf<TotalDocument>(
  { _id: { type: String, required: true }, fold: { type: Number, required: true }, counts: { type: Object }, models: { type: Object } },
  "usage_totals",
);
const daySchema = schemaOf<TotalDocument>(
  { _id: { type: String, required: true }, fold: { type: Number, required: true }, sums: { type: Object } },
  "usage_days",
);

/** True if all failed writes of a bulk were inserts of totals that another process created first. */
const lostInsertsOnly = (error: unknown): boolean => {
  const { writeErrors } = error as { writeErrors?: unknown };
  const failures = Array.isArray(writeErrors) ? writeErrors : writeErrors === undefined ? [] : [writeErrors];
  return failures.length > 0 ? failures.every(isDuplicateKey) : isDuplicateKey(error);
};

/**
 * Adds a fold to totals. Idempotent: if a total already has this or a later fold, the filter doesn't match it, and the upsert fails on its
 * id.
 */
const addTo = async (model: Model<TotalDocument>, fold: number, deltas: ReadonlyMap<string, Delta>): Promise<void> => {
  const operations = [...deltas].map(([_id, delta]): AnyBulkWriteOperation<TotalDocument> => {
    const update = { $set: { fold }, $inc: Object.fromEntries(delta) } as never;
    return { updateOne: { filter: { _id, fold: { $lt: fold } }, update, upsert: true } };
  });
  for (let from = 0; from < operations.length; from += BULK_OPERATIONS) {
    await model.bulkWrite(operations.slice(from, from + BULK_OPERATIONS), { ordered: false }).catch((error: unknown) => {
      if (!lostInsertsOnly(error)) throw error;
    });
  }
};

export type TotalsStore = ReturnType<typeof createTotalsStore>;

export const createTotalsStore = (connection: Connection) => {
  const progress = connection.model<ProgressDocument>("UsageFolds", progressSchema);
  const totals = connection.model<TotalDocument>("UsageTotals", totalSchema);
  const days = connection.model<TotalDocument>("UsageDays", daySchema);

  return {
    progress: async (userId: string): Promise<Progress> =>
      (await progress.findOne({ _id: userId }).maxTimeMS(OPERATION_TIMEOUT_MS).lean<ProgressDocument | null>()) ?? NOTHING,

    /** Starts the next fold. @returns false if another fold was started or completed in the meantime */
    begin: async (userId: string, pending: Fold): Promise<boolean> => {
      const folds = pending.number - 1;
      const { matchedCount } = await progress.updateOne({ _id: userId, folds, pending: null }, { $set: { pending } });
      if (matchedCount === 1 || folds > 0) return matchedCount === 1;
      return insertOnce(progress.insertOne({ _id: userId, folds, pending }));
    },

    /** Adds a fold to all totals that don't have it. */
    add: async (fold: number, deltas: Deltas): Promise<void> => {
      await addTo(totals, fold, deltas.counts);
      await addTo(days, fold, deltas.days);
    },

    complete: async (userId: string, number: number): Promise<void> => {
      await progress.updateOne({ _id: userId, "pending.number": number }, { $set: { folds: number, pending: null } });
    },

    /** @returns an empty total if there is none */
    total: async (key: string): Promise<{ counts: Numbers; models: Numbers }> => {
      const document = await totals.findOne({ _id: key }).maxTimeMS(OPERATION_TIMEOUT_MS).lean<TotalDocument | null>();
      return { counts: document?.counts ?? {}, models: document?.models ?? {} };
    },

    /** Returns sums of a user's runs by day, in order. */
    days: async (userId: string, dayNames: readonly string[]): Promise<{ day: string; sums: Numbers }[]> => {
      const keys = dayNames.map((day) => dayKey(userId, day));
      const documents = await days
        .find({ _id: { $in: keys } })
        .maxTimeMS(OPERATION_TIMEOUT_MS)
        .lean<TotalDocument[]>();
      const byKey = new Map(documents.map(({ _id, sums }) => [_id, sums]));
      return dayNames.map((day, index) => ({ day, sums: byKey.get(keys[index]!) ?? {} }));
    },
  };
};
