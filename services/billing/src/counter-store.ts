import { CONFLICT_ATTEMPTS, tooManyRuns, unavailable } from "@nodeloom/kernel";
import { DURABLE, isDuplicateKey, retryOnConflict } from "@nodeloom/platform";
import { Schema, type Connection } from "mongoose";
import { exceeded } from "./account/budgets/budget";
import { counterId, type DefaultUse, type SettledReservation } from "./account/budgets/defaults";
import { windowEnd } from "./account/budgets/windows";
import { COMMITTED } from "./audit-store";
import { BILLING_LIMITS } from "./limits";

/** A reserved amount, whose hold may not have been written yet. */
export interface OpenReservation {
  id: string;
  millicredits: number;
  /** When the reservation is next compared with the account. */
  checkAt: Date;
}

/** Usage of one value of a default budget in one window. */
interface CounterDocument {
  _id: string;
  userId: string;
  /** Number of the default budget. */
  number: number;
  name: string;
  value: string;
  /** Held and captured credits, in milli-credits. */
  used: number;
  reservations: OpenReservation[];
  /** Absent for a window that never ends. */
  expiresAt?: Date;
}

/** A counter with reservations that are due for a check. */
export interface DueCounter {
  id: string;
  userId: string;
  reservations: OpenReservation[];
}

const OPERATION_TIMEOUT_MS = 10_000;
/** Clocks differ: the window can have ended for another process while this process still counts in it. */
const EXPIRY_MARGIN_MS = 86_400_000;

const counterSchema = new Schema<CounterDocument>(
  {
    _id: { type: String, required: true },
    userId: { type: String, required: true },
    number: { type: Number, required: true },
    name: { type: String, required: true },
    value: { type: String, required: true },
    used: { type: Number, required: true },
    reservations: [Schema.Types.Mixed],
    expiresAt: Date,
  },
  // A hold relies on a reservation, so a failover must not undo the reservation.
  { collection: "counters", autoCreate: false, minimize: false, versionKey: false, writeConcern: DURABLE },
);
// Used to erase an account or a value, and to remove a budget.
counterSchema.index({ userId: 1, name: 1, value: 1 });
// Used to find reservations whose hold may never have been written.
counterSchema.index({ "reservations.checkAt": 1 });
counterSchema.index({ expiresAt: 1 }, { expireAfterSeconds: 0 });

export type CounterStore = ReturnType<typeof createCounterStore>;

/** Stores counters of default budgets. Every write is one conditional update of one document. */
export const createCounterStore = (connection: Connection) => {
  const counters = connection.model<CounterDocument>("Counter", counterSchema);
  const options = { writeConcern: DURABLE as never, maxTimeMS: OPERATION_TIMEOUT_MS };

  const read = (id: string) =>
    counters.findById(id).readConcern(COMMITTED).maxTimeMS(OPERATION_TIMEOUT_MS).lean<CounterDocument | null>().exec();

  const usedOf = async (userId: string, use: Pick<DefaultUse, "number" | "value" | "window">, at: Date): Promise<number> =>
    (await read(counterId(userId, use, at)))?.used ?? 0;

  /** @returns false if the counter has too few credits left or too many reservations */
  const add = async (userId: string, use: DefaultUse, reservation: OpenReservation, at: Date): Promise<boolean> => {
    const { number, name, value, limit, window, millicredits } = use;
    const end = windowEnd(window, at);
    const asAllowed = {
      _id: counterId(userId, use, at),
      used: { $lte: limit - millicredits },
      [`reservations.${BILLING_LIMITS.reservations - 1}`]: { $exists: false },
    };
    const update = {
      $inc: { used: millicredits },
      $push: { reservations: reservation },
      $setOnInsert: { userId, number, name, value, ...(end ? { expiresAt: new Date(end.getTime() + EXPIRY_MARGIN_MS) } : {}) },
    };
    try {
      await counters.collection.updateOne(asAllowed as object, update as object, { ...options, upsert: true });
      return true;
    } catch (error) {
      // The counter exists but doesn't match the filter.
      if (isDuplicateKey(error)) return false;
      throw error;
    }
  };

  return {
    /**
     * Reserves an amount on the counter of one value.
     * @throws DomainError: BUDGET_EXCEEDED, CONCURRENCY_LIMIT_EXCEEDED or SERVICE_UNAVAILABLE
     */
    reserve: async (userId: string, use: DefaultUse, reservation: OpenReservation, at: Date): Promise<void> => {
      const { name, limit, window, millicredits } = use;
      const refusal = (used: number) =>
        exceeded({ scope: { type: "metadata", name, value: use.value }, limit, window, used, at }, millicredits);
      if (millicredits > limit) throw refusal(await usedOf(userId, use, at));
      const isCounted = await retryOnConflict(CONFLICT_ATTEMPTS.account, async () => {
        if (await add(userId, use, reservation, at)) return true;
        const counter = await read(counterId(userId, use, at));
        if (counter && counter.used + millicredits > limit) throw refusal(counter.used);
        if (counter && counter.reservations.length >= BILLING_LIMITS.reservations) throw tooManyRuns(BILLING_LIMITS.reservations);
        return undefined;
      });
      if (!isCounted) throw unavailable("the budget is too busy");
    },

    usedOnCounter: usedOf,

    /** Replaces reservations with the captured amounts, each once. */
    settleReservations: async (settled: readonly SettledReservation[]): Promise<void> => {
      const updates = settled.flatMap(({ id, millicredits, captured, counters: ids }) =>
        ids.map((_id) => ({
          updateOne: {
            filter: { _id, "reservations.id": id } as object,
            update: { $inc: { used: captured - millicredits }, $pull: { reservations: { id } } } as object,
          },
        })),
      );
      if (updates.length > 0) await counters.collection.bulkWrite(updates, { ordered: false, writeConcern: DURABLE as never });
    },

    postpone: async (counter: string, id: string, checkAt: Date): Promise<void> => {
      const filter = { _id: counter, "reservations.id": id } as object;
      await counters.collection.updateOne(filter, { $set: { "reservations.$.checkAt": checkAt } } as object, options);
    },

    /** Returns counters with reservations that are due at a time, after the given id, ordered by id. */
    findDueCounters: async (at: Date, limit: number, afterId = ""): Promise<DueCounter[]> => {
      const documents = await counters
        .find({ _id: { $gt: afterId }, "reservations.checkAt": { $lte: at } }, { userId: 1, reservations: 1 })
        .sort({ _id: 1 })
        .limit(limit)
        .readConcern(COMMITTED)
        .maxTimeMS(OPERATION_TIMEOUT_MS)
        .lean<CounterDocument[]>();
      return documents.map(({ _id, userId, reservations }) => ({
        id: _id,
        userId,
        reservations: reservations.filter(({ checkAt }) => checkAt <= at),
      }));
    },

    /** Removes an account's counters: all, those of one budget, or those of one value. @returns number of counters */
    removeCounters: async (userId: string, which: { number?: number; name?: string; value?: string } = {}): Promise<number> =>
      (await counters.deleteMany({ userId, ...which })).deletedCount,
  };
};
