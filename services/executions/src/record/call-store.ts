import { toldOutputs, type Told } from "@nodeloom/kernel";
import { createUpdater, DURABLE, insertOnce } from "@nodeloom/platform";
import type { Connection } from "mongoose";
import type { HttpResult } from "../contract/activity-types";
import type { CallContext, CallResult, RunError } from "../contract/run-types";
import { toldResult } from "../contract/told-result";
import { documents } from "./schema";

/** `submitted`: it may have reached its provider, and its end is not known. */
export type CallStatus = "submitted" | "completed" | "failed" | "cancelled";

/** One call of a node. */
export interface CallRecord extends Told {
  /** `<executionId>:<nodeId>:<item>`, and `.repair` behind it where an answer was asked for once more. */
  _id: string;
  executionId: string;
  nodeId: string;
  item: number;
  status: CallStatus;
  /** Attempts at sending it that may have reached the provider; absent where the first that is known of a call is its end. */
  sends?: string[];
  costMicroUsd: number;
  requestId: string | null;
  error?: RunError | null;
  /** Charged, in milli-credits; known when the run is over. */
  millicredits?: number;
}

type Call = Pick<CallContext, "key" | "executionId" | "nodeId" | "item">;

const identityOf = ({ key, executionId, nodeId, item }: Call) => ({ _id: key, executionId, nodeId, item });

/** A completed call of a model, and what it is charged by. */
export const completedCall = (call: Call, result: CallResult): CallRecord => {
  const { costMicroUsd, requestId } = result;
  return { ...identityOf(call), status: "completed", costMicroUsd, requestId, ...toldResult(result) };
};

export const answeredCall = (call: Call, { status, body }: HttpResult): CallRecord => ({
  ...identityOf(call),
  status: "completed",
  costMicroUsd: 0,
  requestId: null,
  ...toldOutputs({ status, body }),
});

export const failedCall = (call: Call, error: RunError, requestId: string | null): CallRecord => ({
  ...identityOf(call),
  status: "failed",
  costMicroUsd: 0,
  requestId,
  error,
});

const callSchema = documents<CallRecord>("calls");
callSchema.index({ executionId: 1, _id: -1 });

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
    callSubmitted: async (call: Call, send: string): Promise<void> => {
      const { _id, ...rest } = identityOf(call);
      const first = { ...rest, status: "submitted", costMicroUsd: 0, requestId: null } as const;
      await write({ filter: { _id }, update: { $setOnInsert: first, $addToSet: { sends: send } }, upsert: true });
    },
    /** Notes that the provider certainly did not take what an attempt sent. What other attempts sent stays noted. */
    callNotReceived: async ({ key }: Pick<Call, "key">, send: string): Promise<void> => {
      await write({ filter: { _id: key, status: "submitted" }, update: { $pull: { sends: send } } });
    },
    /** Notes how a call ended, durably: a completion is what is charged for, whatever happens to its run. */
    callEnded: async (call: CallRecord): Promise<void> => {
      const { _id, ...rest } = call;
      const filter = call.status === "completed" ? { _id } : { _id, status: { $ne: "completed" } };
      // A call that has completed stays so: its record is there, and the filter does not find it.
      await insertOnce(write({ filter, update: { $set: rest }, upsert: true }));
    },
    /** Notes what calls were charged, by their keys within the execution. */
    callCharged: async (executionId: string, charged: readonly { key: string; millicredits: number }[]): Promise<void> => {
      await Promise.all(
        charged.map(({ key, millicredits }) => write({ filter: { _id: `${executionId}:${key}` }, update: { $set: { millicredits } } })),
      );
    },
    /** Calls that were sent, or have ended. */
    callsOf: async (executionId: string): Promise<CallRecord[]> =>
      (await calls.find({ executionId }).lean<CallRecord[]>().exec()).filter(wasSent),
  };
};
