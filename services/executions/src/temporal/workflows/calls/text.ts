import { BindError, repairKey, type PlanStep } from "@nodeloom/kernel/graph";
import type { ModelCall } from "../../../contract/activity-types";
import type { CallResult, RunInput } from "../../../contract/run-types";
import { holdRepair } from "./extend";
import type { GraphRun } from "../graph-run";
import { runText } from "../steps";
import { plainSummary } from "./summary";
import type { Waves } from "./waves";

export interface TextStep {
  run: GraphRun;
  input: RunInput;
  step: PlanStep;
  waves: Waves | undefined;
}

const ask = async ({ run }: TextStep, call: ModelCall, summary: string): Promise<CallResult> => {
  const result = await runText.executeWithOptions({ summary: plainSummary(summary) }, [call]);
  run.callCompleted(call, result.costMicroUsd);
  return result;
};

/**
 * A language model: one activity. An answer that does not fit its schema is asked for once more, as a call of its own with
 * a hold of its own.
 * @throws BindError when the second answer does not fit either
 */
export const callText = async (text: TextStep, call: ModelCall): Promise<CallResult> => {
  const { run, input, step, waves } = text;
  const summary = `${call.nodeId}: ${call.model}`;
  let result = await ask(text, call, summary);
  if (result.problems) {
    run.countRepair();
    await holdRepair(run, input, step, call.item);
    const repair: ModelCall = {
      ...call,
      key: repairKey(call.key),
      repair: { answer: result.text ?? "", problems: result.problems },
    };
    if (waves) await waves.take(repair);
    result = await ask(text, repair, `${summary} (repair)`);
  }
  if (result.problems) throw new BindError(`${call.model}: its answer does not fit the schema: it ${result.problems.join("; it ")}`);
  run.itemDone(call.nodeId);
  return result;
};
