import { isDuplicateKey } from "@nodeloom/platform";
import type { Model } from "mongoose";
import type { AttemptsRecord } from "../records";

export interface AttemptsStore {
  /**
   * Takes one of `limit` attempts of the window that is open, or of a new one ending at `endsAt`.
   * @returns undefined when taken, else when the exhausted window ends.
   */
  take(id: string, limit: number, now: Date, endsAt: Date): Promise<Date | undefined>;
  /** Forgets the window. */
  clear(id: string): Promise<void>;
}

export const createAttemptsStore = (attempts: Model<AttemptsRecord>): AttemptsStore => {
  const open = async (id: string, now: Date, endsAt: Date): Promise<boolean> => {
    try {
      const result = await attempts.updateOne({ _id: id, endsAt: { $lte: now } }, { $set: { count: 1, endsAt } }, { upsert: true });
      return result.modifiedCount + result.upsertedCount > 0;
    } catch (error) {
      // The window is open already, perhaps just opened by someone else.
      if (isDuplicateKey(error)) return false;
      throw error;
    }
  };
  const takeOpen = async (id: string, limit: number, now: Date): Promise<boolean> => {
    const result = await attempts.updateOne({ _id: id, endsAt: { $gt: now }, count: { $lt: limit } }, { $inc: { count: 1 } });
    return result.modifiedCount > 0;
  };
  return {
    take: async (id, limit, now, endsAt) => {
      if ((await takeOpen(id, limit, now)) || (await open(id, now, endsAt)) || (await takeOpen(id, limit, now))) return undefined;
      const window = await attempts.findById(id).lean<AttemptsRecord>();
      return window?.endsAt ?? endsAt;
    },
    clear: async (id) => void (await attempts.deleteOne({ _id: id })),
  };
};
