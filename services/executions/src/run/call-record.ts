import { reportedOutputs, type ReportedOutputs } from "@nodeloom/kernel/graph";
import type { HttpResult, RefusedCost } from "./calls";
import { type CallOutputs, outputsOfResult } from "./values";
import type { CallFingerprint, CallContext, CallResult, RunError } from "./types";

/** `submitted`: the call may have reached its provider, and its outcome isn't known. */
export type CallStatus = "submitted" | "completed" | "failed" | "cancelled";

export interface CallRecord extends ReportedOutputs {
  /** `<executionId>:<nodeId>:<item>`, followed by the alternative, and by `.repair` if the answer was requested a second time. */
  _id: string;
  executionId: string;
  nodeId: string;
  item: number;
  /** For a node with fallbacks: the model that was called. */
  model?: string;
  status: CallStatus;
  /** Attempts that may have reached the provider; absent if only the outcome of the call is known. */
  sends?: string[];
  /** The model, and when an attempt first sent the call to its provider; absent if no attempt did. */
  sentModel?: string;
  sentAt?: Date;
  /** When the outcome was recorded. */
  endedAt?: Date;
  costMicroUsd: number;
  requestId: string | null;
  error?: RunError | null;
  /** Set if the call failed because moderation refused its output. It is still charged. */
  refused?: true;
  /** Charge in millicredits; known after the run has ended. */
  millicredits?: number;
  asked?: CallFingerprint;
  /** All outputs as JSON, if `outputsJson` is truncated. */
  wholeJson?: string;
  /** Execution that made the call, if its output was reused. */
  reusedFrom?: string;
  /** Cost of the call in that execution. */
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

const reported = (outputs: CallOutputs): ReportedOutputs & Pick<CallRecord, "wholeJson"> => {
  const cut = reportedOutputs(outputs);
  return cut.truncated ? { ...cut, wholeJson: JSON.stringify(outputs) } : cut;
};

export const completedCall = (call: Call, result: CallResult): CallRecord => {
  const { costMicroUsd, requestId } = result;
  return { ...identityOf(call), status: "completed", costMicroUsd, requestId, ...reported(outputsOfResult(result)) };
};

export const answeredCall = (call: Call, { status, body, file }: HttpResult, askedCall: CallFingerprint): CallRecord => ({
  ...identityOf(call),
  status: "completed",
  costMicroUsd: 0,
  requestId: null,
  asked: askedCall,
  ...reported({ status, body, ...(file ? { file } : {}) }),
});

export interface ReusedResult {
  outputs: CallOutputs;
  /** Id of the execution that made the call. */
  from: string;
  /** Cost of the call in that execution. */
  savedMicroUsd: number;
}

export const reusedCall = (call: Call, askedCall: CallFingerprint, { outputs, from, savedMicroUsd }: ReusedResult): CallRecord => ({
  ...identityOf(call),
  status: "completed",
  costMicroUsd: 0,
  requestId: null,
  asked: askedCall,
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

/** Returns the record of a call whose output moderation refused. */
export const refusedCall = (call: Call, error: RunError, { costMicroUsd, requestId }: RefusedCost): CallRecord => ({
  ...failedCall(call, error, requestId),
  costMicroUsd,
  refused: true,
});

/** True if a call is charged. That includes calls whose output moderation refused. */
export const isCharged = ({ status, refused }: CallRecord): boolean => status === "completed" || refused === true;
