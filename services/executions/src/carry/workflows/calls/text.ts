import { BindError, repairKey } from "@nodeloom/kernel/graph";
import type { ModelCall } from "../../../run/calls";
import type { CallResult } from "../../../run/types";
import { holdRepair } from "./extend";
import { runText } from "../steps";
import type { StepRun } from "./step-run";
import { plainSummary } from "./summary";

const ask = async ({ run }: StepRun, call: ModelCall, summary: string): Promise<CallResult> => {
  const result = await runText.executeWithOptions({ summary: plainSummary(summary) }, [call]);
  run.callCompleted(call, result.costMicroUsd);
  return result;
};

/**
 * A language model: one activity. An answer that does not fit its schema is asked for once more, as a call of its own with
 * a hold of its own.
 * @throws BindError when the second answer does not fit either
 */
export const callText = async (stepRun: StepRun, call: ModelCall): Promise<CallResult> => {
  const { run, batches } = stepRun;
  const summary = `${call.nodeId}: ${call.model}`;
  let result = await ask(stepRun, call, summary);
  if (result.problems) {
    run.countRepair();
    await holdRepair(stepRun, call.item);
    const repair: ModelCall = {
      ...call,
      key: repairKey(call.key),
      repair: { answer: result.text ?? "", problems: result.problems },
    };
    await batches.take(repair);
    result = await ask(stepRun, repair, `${summary} (repair)`);
  }
  if (result.problems) throw new BindError(`${call.model}: its answer does not fit the schema: ${result.problems.join("; ")}`);
  run.itemDone(call.nodeId);
  return result;
};
