import type { Model } from "mongoose";
import type { RunStopRecord } from "../records";

export interface RunStopStore {
  insert(stop: RunStopRecord): Promise<void>;
  /** Returns stops, oldest first. */
  list(limit: number): Promise<RunStopRecord[]>;
  remove(id: string): Promise<void>;
}

export const createRunStopStore = (stops: Model<RunStopRecord>): RunStopStore => ({
  insert: async (stop) => void (await stops.create([stop])),
  list: (limit) => stops.find().sort({ at: 1 }).limit(limit).lean<RunStopRecord[]>().exec(),
  remove: async (id) => void (await stops.deleteOne({ _id: id })),
});
