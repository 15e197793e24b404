import { CONFLICT_ATTEMPTS } from "@nodeloom/kernel";
import { isDuplicateKey, retryOnConflict } from "@nodeloom/platform";
import type { Model } from "mongoose";
import type { AttemptsRecord } from "../records";

/** Delays that start after `free` attempts within a window. */
export interface Pace {
  free: number;
  windowMs: number;
  firstDelayMs: number;
  maxDelayMs: number;
}

export interface AttemptsStore {
  /**
   * Counts one of `limit` attempts in the open window. Without one, opens a window that ends at `endsAt`.
   * @returns undefined if the attempt is allowed, otherwise the end of the exhausted window
   */
  take(id: string, limit: number, now: Date, endsAt: Date): Promise<Date | undefined>;
  /**
   * Counts an attempt in a window without a limit. After the free attempts, each wait is twice as long as the previous one.
   * @returns undefined if the attempt is allowed, otherwise the earliest time of the next attempt
   */
  takePaced(id: string, pace: Pace, now: Date): Promise<Date | undefined>;
  clear(id: string): Promise<void>;
}

/** Waiting time after too many concurrent attempts. */
const BUSY_MS = 1_000;

export const createAttemptsStore = (attempts: Model<AttemptsRecord>): AttemptsStore => {
  const open = async (id: string, now: Date, endsAt: Date): Promise<boolean> => {
    try {
      const opened = { $set: { count: 1, endsAt, nextAt: null } };
      const result = await attempts.updateOne({ _id: id, endsAt: { $lte: now } }, opened, { upsert: true });
      return result.modifiedCount + result.upsertedCount > 0;
    } catch (error) {
      // A concurrent attempt may have opened the window.
      if (isDuplicateKey(error)) return false;
      throw error;
    }
  };
  const takeOpen = async (id: string, limit: number, now: Date): Promise<boolean> => {
    const result = await attempts.updateOne({ _id: id, endsAt: { $gt: now }, count: { $lt: limit } }, { $inc: { count: 1 } });
    return result.modifiedCount > 0;
  };
  const takeFree = async (id: string, limit: number, now: Date, endsAt: Date): Promise<boolean> =>
    (await takeOpen(id, limit, now)) || (await open(id, now, endsAt)) || takeOpen(id, limit, now);

  return {
    take: async (id, limit, now, endsAt) => {
      if (await takeFree(id, limit, now, endsAt)) return undefined;
      const window = await attempts.findById(id).lean<AttemptsRecord>();
      return window?.endsAt ?? endsAt;
    },
    takePaced: async (id, { free, windowMs, firstDelayMs, maxDelayMs }, now) => {
      const endsAt = new Date(now.getTime() + windowMs);
      const answer = await retryOnConflict(CONFLICT_ATTEMPTS.signIn, async (): Promise<{ until?: Date } | undefined> => {
        if (await takeFree(id, free, now, endsAt)) return {};
        const window = await attempts.findById(id).lean<AttemptsRecord>();
        if (!window) return undefined;
        if (window.nextAt && window.nextAt > now) return { until: window.nextAt };
        const delayMs = Math.min(firstDelayMs * 2 ** (window.count - free), maxDelayMs);
        const nextAt = new Date(now.getTime() + delayMs);
        const isUnchanged = { _id: id, count: window.count, endsAt: window.endsAt };
        const update = await attempts.updateOne(isUnchanged, { $set: { count: window.count + 1, nextAt, endsAt } });
        return update.modifiedCount > 0 ? {} : undefined;
      });
      return answer ? answer.until : new Date(now.getTime() + BUSY_MS);
    },
    clear: async (id) => void (await attempts.deleteOne({ _id: id })),
  };
};
