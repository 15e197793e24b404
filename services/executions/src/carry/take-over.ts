/** The first look of a rerun's step: which of its calls were made by an earlier run already. */
import type { JsonSchema } from "@nodeloom/kernel/graph";
import type { Execution } from "../lifecycle/execution";
import type { ModelCatalog } from "../plan/model-catalog";
import { askedOfHttp, askedOfModel, askedOfTransform } from "../reuse/asked";
import type { LookUpOptions } from "../reuse/look-up";
import { takenOverCall, type TakenOver } from "../run/call-record";
import type { Asked } from "../run/types";
import type { HttpNodeCall, ModelCall, TransformCall } from "../run/calls";
import type { CallStore } from "../store/calls";
import type { TakeOverInput } from "./activity-types";

export interface TakeOverOptions extends LookUpOptions {
  catalog: Pick<ModelCatalog, "getAny">;
  calls: Pick<CallStore, "ended">;
  execution: Pick<Execution, "nodeStarted" | "itemCompleted">;
}

type Call = ModelCall | HttpNodeCall | TransformCall;

const schemaOf = (call: Call): JsonSchema | undefined => ("model" in call ? call.schema : undefined);

export const createTakeOver = ({ find, own, programVersion, catalog, calls, execution }: TakeOverOptions) => {
  const askedOf = async (call: Call): Promise<Asked> => {
    if ("model" in call) return askedOfModel(call, await catalog.getAny(call.model), own);
    if ("operation" in call) return askedOfTransform(call, await programVersion(call.operation), own);
    return askedOfHttp(call.call);
  };

  /** Records a call as its own run would have. */
  const record = async (call: Call, asked: Asked, taken: TakenOver): Promise<void> => {
    await calls.ended(takenOverCall(call, asked, taken));
    const { text, status } = taken.outputs;
    const [files] = Object.values(taken.outputs);
    const said = "model" in call || "operation" in call ? (text === undefined ? { files } : {}) : { status };
    await execution.itemCompleted(call, { ...said, reusedFrom: taken.from });
  };

  /**
   * Takes over what the calls of one step would give, where earlier runs have made them. Idempotent.
   * @returns an entry for each call; null where it is to be made
   */
  return async ({ sources, calls: wanted }: TakeOverInput): Promise<(TakenOver | null)[]> => {
    const [first] = wanted;
    if (!first) return [];
    const asked = await Promise.all(wanted.map(askedOf));
    const found = await find(
      wanted.map((call, index) => ({ ...call, asked: asked[index]!, schema: schemaOf(call) })),
      { userId: first.userId, sources, pins: true },
    );
    if (found.some((one) => one !== null)) await execution.nodeStarted(first);
    for (const [index, one] of found.entries()) if (one) await record(wanted[index]!, asked[index]!, one);
    return found;
  };
};
