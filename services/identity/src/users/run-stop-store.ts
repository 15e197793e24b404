import type { Model } from "mongoose";
import type { RunStopRecord } from "../records";

export interface RunStopStore {
  insert(stop: Pick<RunStopRecord, "_id" | "userId" | "at">): Promise<void>;
  /** Claims a stop that is unclaimed or whose claim has expired. */
  claim(claim: string, now: Date, until: Date): Promise<RunStopRecord | null>;
  /** Removes a stop, unless another worker has claimed it. */
  remove(id: string, claim: string | null): Promise<void>;
}

export const createRunStopStore = (stops: Model<RunStopRecord>): RunStopStore => ({
  insert: async (stop) => void (await stops.create([{ ...stop, claim: null, claimedUntil: null }])),
  claim: (claim, now, until) =>
    stops
      .findOneAndUpdate(
        { $or: [{ claimedUntil: null }, { claimedUntil: { $lte: now } }] },
        { $set: { claim, claimedUntil: until } },
        { returnDocument: "after" },
      )
      .lean<RunStopRecord>()
      .exec(),
  remove: async (id, claim) => void (await stops.deleteOne({ _id: id, claim })),
});
