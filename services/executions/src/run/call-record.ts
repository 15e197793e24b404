/** One call of a node, as it is recorded. */
import { mediaFamily, reportedOutputs, type Reported } from "@nodeloom/kernel/graph";
import type { HttpResult } from "./calls";
import type { CallContext, CallResult, RunError } from "./types";

/** `submitted`: it may have reached its provider, and its end is not known. */
export type CallStatus = "submitted" | "completed" | "failed" | "cancelled";

export interface CallRecord extends Reported {
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

export type Call = Pick<CallContext, "key" | "executionId" | "nodeId" | "item">;

export const identityOf = ({ key, executionId, nodeId, item }: Call) => ({ _id: key, executionId, nodeId, item });

const reportedResult = ({ files, text, json }: Pick<CallResult, "files" | "text" | "json">): Reported => {
  const port = mediaFamily(files[0]?.contentType ?? "") ?? "files";
  return reportedOutputs(text === null ? { [port]: files } : { text, ...(json ? { json: json.value } : {}) });
};

export const completedCall = (call: Call, result: CallResult): CallRecord => {
  const { costMicroUsd, requestId } = result;
  return { ...identityOf(call), status: "completed", costMicroUsd, requestId, ...reportedResult(result) };
};

export const answeredCall = (call: Call, { status, body }: HttpResult): CallRecord => ({
  ...identityOf(call),
  status: "completed",
  costMicroUsd: 0,
  requestId: null,
  ...reportedOutputs({ status, body }),
});

export const failedCall = (call: Call, error: RunError, requestId: string | null): CallRecord => ({
  ...identityOf(call),
  status: "failed",
  costMicroUsd: 0,
  requestId,
  error,
});
