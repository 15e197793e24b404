/** One call of a node, as it is recorded. */
import { reportedOutputs, type Reported } from "@nodeloom/kernel/graph";
import type { HttpResult, RefusedCost } from "./calls";
import { type CallOutputs, outputsOfResult } from "./values";
import type { Asked, CallContext, CallResult, RunError } from "./types";

/** `submitted`: it may have reached its provider, and its end is not known. */
export type CallStatus = "submitted" | "completed" | "failed" | "cancelled";

export interface CallRecord extends Reported {
  /** `<executionId>:<nodeId>:<item>`, with the alternative behind it, and `.repair` where an answer was asked for once more. */
  _id: string;
  executionId: string;
  nodeId: string;
  item: number;
  /** Of a node with alternatives to its model: the one that was called. */
  model?: string;
  status: CallStatus;
  /** Attempts at sending it that may have reached the provider; absent where the first that is known of a call is its end. */
  sends?: string[];
  costMicroUsd: number;
  requestId: string | null;
  error?: RunError | null;
  /** It failed because moderation refused what it gave, and is charged all the same. */
  refused?: true;
  /** Charged, in milli-credits; known when the run is over. */
  millicredits?: number;
  asked?: Asked;
  /** All that it gave, as JSON, where `outputsJson` is cut. */
  wholeJson?: string;
  /** The execution that made the call, where its output was reused. */
  reusedFrom?: string;
  /** What the call did cost there. */
  savedMicroUsd?: number;
}

export type Call = Pick<CallContext, "key" | "executionId" | "nodeId" | "item" | "alternative">;

export const identityOf = ({ key, executionId, nodeId, item, alternative }: Call) => ({
  _id: key,
  executionId,
  nodeId,
  item,
  ...(alternative ? { model: alternative.model } : {}),
});

const reported = (outputs: CallOutputs): Reported & Pick<CallRecord, "wholeJson"> => {
  const cut = reportedOutputs(outputs);
  return cut.truncated ? { ...cut, wholeJson: JSON.stringify(outputs) } : cut;
};

export const completedCall = (call: Call, result: CallResult): CallRecord => {
  const { costMicroUsd, requestId } = result;
  return { ...identityOf(call), status: "completed", costMicroUsd, requestId, ...reported(outputsOfResult(result)) };
};

export const answeredCall = (call: Call, { status, body, file }: HttpResult, asked: Asked): CallRecord => ({
  ...identityOf(call),
  status: "completed",
  costMicroUsd: 0,
  requestId: null,
  asked,
  ...reported({ status, body, ...(file ? { file } : {}) }),
});

/** An output that is reused from a call of an earlier run. */
export interface ReusedResult {
  outputs: CallOutputs;
  /** The execution that made the call. */
  from: string;
  /** What the call did cost there. */
  savedMicroUsd: number;
}

export const reusedCall = (call: Call, asked: Asked, { outputs, from, savedMicroUsd }: ReusedResult): CallRecord => ({
  ...identityOf(call),
  status: "completed",
  costMicroUsd: 0,
  requestId: null,
  asked,
  reusedFrom: from,
  savedMicroUsd,
  ...reported(outputs),
});

export const failedCall = (call: Call, error: RunError, requestId: string | null): CallRecord => ({
  ...identityOf(call),
  status: "failed",
  costMicroUsd: 0,
  requestId,
  error,
});

/** A call that gave what moderation refused. */
export const refusedCall = (call: Call, error: RunError, { costMicroUsd, requestId }: RefusedCost): CallRecord => ({
  ...failedCall(call, error, requestId),
  costMicroUsd,
  refused: true,
});

/** True if a call is charged for: moderation may have refused what it gave. */
export const isCharged = ({ status, refused }: CallRecord): boolean => status === "completed" || refused === true;
