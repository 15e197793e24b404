/** The calls of runs: what was sent, how it ended, what was charged for it. */
import { createUpdater, DURABLE, insertOnce } from "@nodeloom/platform";
import type { Connection } from "mongoose";
import { identityOf, type Call, type CallRecord } from "../run/call-record";
import { documents } from "./schema";

const callSchema = documents<CallRecord>("calls");
callSchema.index({ executionId: 1, _id: -1 });

/** What is shown of a call is short. */
const WITHOUT_WHOLE = { wholeJson: 0 } as const;

/** Whether a call has ended, or may have reached its provider. */
const wasSent = ({ status, sends }: CallRecord): boolean => status !== "submitted" || sends?.length !== 0;

export const callModel = (connection: Connection) => connection.model("Call", callSchema);
export type CallModel = ReturnType<typeof callModel>;

export type CallStore = ReturnType<typeof createCallStore>;

/** What became of each call of a run: documents of their own, so that a row stays small however many there are. */
export const createCallStore = (connection: Connection) => {
  const calls = callModel(connection);
  const write = createUpdater(calls.collection as never, DURABLE);
  return {
    /** Notes that a call is about to be sent by an attempt. One that has ended stays as it is. */
    submitted: async (call: Call & Pick<CallRecord, "asked">, send: string): Promise<void> => {
      const { _id, ...rest } = identityOf(call);
      const asked = call.asked ? { asked: call.asked } : {};
      const first = { ...rest, status: "submitted", costMicroUsd: 0, requestId: null, ...asked } as const;
      await write({ filter: { _id }, update: { $setOnInsert: first, $addToSet: { sends: send } }, upsert: true });
    },
    /** Notes that the provider certainly did not take what an attempt sent. What other attempts sent stays noted. */
    notReceived: async ({ key }: Pick<Call, "key">, send: string): Promise<void> => {
      await write({ filter: { _id: key, status: "submitted" }, update: { $pull: { sends: send } } });
    },
    /** Notes how a call ended, durably: a completion is what is charged for, whatever happens to its run. */
    ended: async (call: CallRecord): Promise<void> => {
      const { _id, ...rest } = call;
      const filter = call.status === "completed" ? { _id } : { _id, status: { $ne: "completed" } };
      // A call that has completed stays so: its record is there, and the filter does not find it.
      await insertOnce(write({ filter, update: { $set: rest }, upsert: true }));
    },
    /** Notes what calls were charged, by their keys within the execution. */
    charged: async (executionId: string, charged: readonly { key: string; millicredits: number }[]): Promise<void> => {
      await Promise.all(
        charged.map(({ key, millicredits }) => write({ filter: { _id: `${executionId}:${key}` }, update: { $set: { millicredits } } })),
      );
    },
    of: async (executionId: string): Promise<CallRecord[]> =>
      (await calls.find({ executionId }, WITHOUT_WHOLE).lean<CallRecord[]>().exec()).filter(wasSent),
    /** The completed calls of some runs that ask for one of some digests. */
    completedLike: (executionIds: readonly string[], digests: readonly string[]): Promise<CallRecord[]> =>
      calls
        .find({ executionId: { $in: [...executionIds] }, status: "completed", "asked.digest": { $in: [...digests] } })
        .lean<CallRecord[]>()
        .exec(),
    /** Those of some calls that have completed. */
    completed: (ids: readonly string[]): Promise<CallRecord[]> =>
      calls
        .find({ _id: { $in: [...ids] }, status: "completed" })
        .lean<CallRecord[]>()
        .exec(),
  };
};
