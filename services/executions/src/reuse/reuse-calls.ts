/** First step of a rerun's node: finds the calls that an earlier run made. */
import type { JsonSchema } from "@nodeloom/kernel/graph";
import type { Execution } from "../lifecycle/execution";
import type { ModelCatalog } from "../plan/model-catalog";
import { fingerprintOfHttp, fingerprintOfModel, fingerprintOfTransform } from "./fingerprints";
import type { StepReuseOptions } from "./step-reuse";
import { reusedCall, type ReusedResult } from "../run/call-record";
import type { CallFingerprint } from "../run/types";
import type { HttpNodeCall, ModelCall, ReuseInput, TransformCall } from "../run/calls";
import type { CallStore } from "../record/calls/calls";

export interface ReuseCallsOptions extends StepReuseOptions {
  catalog: Pick<ModelCatalog, "getAny">;
  calls: Pick<CallStore, "recordEnd">;
  execution: Pick<Execution, "nodeStarted" | "itemCompleted">;
}

type Call = ModelCall | HttpNodeCall | TransformCall;

const schemaOf = (call: Call): JsonSchema | undefined => ("model" in call ? call.schema : undefined);

export const createReuseCalls = ({ find, own, programVersion, catalog, calls, execution }: ReuseCallsOptions) => {
  const fingerprintOf = async (call: Call): Promise<CallFingerprint> => {
    if ("model" in call) return fingerprintOfModel(call, await catalog.getAny(call.model), own);
    if ("operation" in call) return fingerprintOfTransform(call, await programVersion(call.operation), own);
    return fingerprintOfHttp(call.call);
  };

  /** Records a reused call like a call that this run made. */
  const record = async (call: Call, askedCall: CallFingerprint, reused: ReusedResult): Promise<void> => {
    await calls.recordEnd(reusedCall(call, askedCall, reused));
    const { text, status } = reused.outputs;
    const [files] = Object.values(reused.outputs);
    const outputPart = "model" in call || "operation" in call ? (text === undefined ? { files } : {}) : { status };
    await execution.itemCompleted(call, { ...outputPart, reusedFrom: reused.from });
  };

  /**
   * Reuses results of earlier runs for the calls of one step. Idempotent. @returns one entry for each call; null if the call must be made
   */
  return async ({ sources, calls: wantedCalls }: ReuseInput): Promise<(ReusedResult | null)[]> => {
    const [first] = wantedCalls;
    if (!first) return [];
    const askedCalls = await Promise.all(wantedCalls.map(fingerprintOf));
    const results = await find(
      wantedCalls.map((call, index) => ({ ...call, asked: askedCalls[index]!, schema: schemaOf(call) })),
      { userId: first.userId, sources, pins: true },
    );
    if (results.some((one) => one !== null)) await execution.nodeStarted(first);
    for (const [index, one] of results.entries()) if (one) await record(wantedCalls[index]!, askedCalls[index]!, one);
    return results;
  };
};
