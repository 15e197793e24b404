/** Measures the recent calls of models, over all users, from the records of the calls. */
import type { Connection } from "mongoose";
import { callModel } from "./calls";
import type { CallRecord } from "../../run/call-record";

/** A model's calls of the last day count, up to this number, the newest first. */
const MEASURED_CALLS = 100;
const WINDOW_MS = 86_400_000;
const READ_TIMEOUT_MS = 2_000;
const PART = { _id: 0, status: 1, refused: 1, "error.code": 1, "error.fault": 1, sentAt: 1, endedAt: 1 } as const;

export type MeasuredCall = Pick<CallRecord, "status" | "refused" | "sentAt" | "endedAt"> & {
  error?: Pick<NonNullable<CallRecord["error"]>, "code" | "fault"> | null;
};

export type CallStatisticsStore = ReturnType<typeof createCallStatisticsStore>;

export const createCallStatisticsStore = (connection: Connection) => {
  const calls = callModel(connection);
  return {
    /** Returns the newest calls of a model that were sent to its provider and ended within the last day. */
    recent: (model: string, now: number): Promise<MeasuredCall[]> =>
      calls
        .find({ sentModel: model, endedAt: { $gte: new Date(now - WINDOW_MS) } }, PART)
        .sort({ endedAt: -1 })
        .limit(MEASURED_CALLS)
        .maxTimeMS(READ_TIMEOUT_MS)
        .lean<MeasuredCall[]>()
        .exec(),
  };
};
