/** Stores calls of runs: their requests, outcomes and charges. Measures models by their recent calls. */
import { createUpdater, DURABLE, insertOnce } from "@nodeloom/platform";
import type { Connection } from "mongoose";
import { identityOf, type Call, type CallRecord } from "../../run/call-record";
import { documents } from "../schema";

const callSchema = documents<CallRecord>("calls");
callSchema.index({ executionId: 1, _id: -1 });
// Measures the recent calls of a model.
callSchema.index({ sentModel: 1, endedAt: -1 }, { partialFilterExpression: { sentModel: { $exists: true } } });

/** Lists show shortened calls. */
const WITHOUT_WHOLE = { wholeJson: 0 } as const;

/** True if a call has ended, or may have reached its provider. */
const wasSent = ({ status, sends }: CallRecord): boolean => status !== "submitted" || sends?.length !== 0;

export const callModel = (connection: Connection) => connection.model("Call", callSchema);
export type CallModel = ReturnType<typeof callModel>;

export type CallStore = ReturnType<typeof createCallStore>;

/** Stores each call in its own document, so that a run's row stays small. */
export const createCallStore = (connection: Connection) => {
  const calls = callModel(connection);
  const write = createUpdater(calls.collection as never, DURABLE);
  return {
    /**
     * Records that an attempt is about to send a call. An ended call stays unchanged.
     * @param call `model`: the model, to measure its calls
     */
    submitted: async (call: Call & Pick<CallRecord, "asked"> & { model?: string }, send: string): Promise<void> => {
      const { _id, ...rest } = identityOf(call);
      const askedPart = call.asked ? { asked: call.asked } : {};
      const sentPart = call.model === undefined ? {} : { sentModel: call.model, sentAt: new Date() };
      const first = { ...rest, status: "submitted", costMicroUsd: 0, requestId: null, ...sentPart, ...askedPart } as const;
      await write({ filter: { _id }, update: { $setOnInsert: first, $addToSet: { sends: send } }, upsert: true });
    },
    /** Records that the provider certainly didn't accept the request of one attempt. Records of other attempts remain. */
    notReceived: async ({ key }: Pick<Call, "key">, send: string): Promise<void> => {
      await write({ filter: { _id: key, status: "submitted" }, update: { $pull: { sends: send } } });
    },
    /** Records durably that a call has ended, because completed calls are charged even if the run fails. */
    recordEnd: async (call: CallRecord): Promise<void> => {
      const { _id, ...rest } = call;
      const filter = call.status === "completed" ? { _id } : { _id, status: { $ne: "completed" } };
      // A completed call stays unchanged: the filter doesn't match it.
      await insertOnce(write({ filter, update: { $set: { ...rest, endedAt: new Date() } }, upsert: true }));
    },
    charged: async (executionId: string, charged: readonly { key: string; millicredits: number }[]): Promise<void> => {
      await Promise.all(
        charged.map(({ key, millicredits }) => write({ filter: { _id: `${executionId}:${key}` }, update: { $set: { millicredits } } })),
      );
    },
    of: async (executionId: string): Promise<CallRecord[]> =>
      (await calls.find({ executionId }, WITHOUT_WHOLE).lean<CallRecord[]>().exec()).filter(wasSent),
    /** Returns completed calls in these runs that have one of the digests. */
    completedLike: (executionIds: readonly string[], digests: readonly string[]): Promise<CallRecord[]> =>
      calls
        .find({ executionId: { $in: [...executionIds] }, status: "completed", "asked.digest": { $in: [...digests] } })
        .lean<CallRecord[]>()
        .exec(),
    /** Returns the cost of the calls that runs reused. */
    savedIn: (executionIds: readonly string[]): Promise<Pick<CallRecord, "executionId" | "savedMicroUsd">[]> =>
      calls
        .find({ executionId: { $in: [...executionIds] }, savedMicroUsd: { $exists: true } }, { executionId: 1, savedMicroUsd: 1 })
        .lean<Pick<CallRecord, "executionId" | "savedMicroUsd">[]>()
        .exec(),
    completed: (ids: readonly string[]): Promise<CallRecord[]> =>
      calls
        .find({ _id: { $in: [...ids] }, status: "completed" })
        .lean<CallRecord[]>()
        .exec(),
  };
};

/** A model's calls of the last day count, up to this number, the newest first. */
const MEASURED_CALLS = 100;
const WINDOW_MS = 86_400_000;
const READ_TIMEOUT_MS = 2_000;
const PART = { _id: 0, status: 1, refused: 1, "error.code": 1, "error.fault": 1, sentAt: 1, endedAt: 1 } as const;

export type MeasuredCall = Pick<CallRecord, "status" | "refused" | "sentAt" | "endedAt"> & {
  error?: Pick<NonNullable<CallRecord["error"]>, "code" | "fault"> | null;
};

export type CallStatisticsStore = ReturnType<typeof createCallStatisticsStore>;

/** Measures the recent calls of models, over all users. */
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
