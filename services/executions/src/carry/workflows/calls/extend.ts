import { itemKey, repairKey, type HoldItem } from "@nodeloom/kernel/graph";
import { extendHold } from "../steps";
import type { StepRun } from "./step-run";

const extend = async ({ run, input, step: { id: nodeId } }: StepRun, items: HoldItem[]): Promise<void> => {
  const { executionId, userId, holdId, maxMillicredits } = input;
  const { label } = run.node(nodeId);
  const held = await extendHold({ executionId, userId, holdId, nodeId, ...(label === undefined ? {} : { label }), maxMillicredits, items });
  run.extended.push(...held);
};

/** Holds the call that asks for an item's answer once more, before it is made. */
export const holdRepair = async (stepRun: StepRun, item: number): Promise<void> => {
  const { step } = stepRun;
  const maxMillicredits = step.answer!.maxRepairMillicredits;
  await extend(stepRun, [{ key: repairKey(itemKey(step.id, item)), model: step.model!, maxMillicredits }]);
};

/** Holds the calls of a list that is longer than was known before the run, before any of them is submitted. */
export const holdMore = async (stepRun: StepRun, calls: number): Promise<void> => {
  const { step } = stepRun;
  const { model, maxMillicredits } = step;
  if (model === undefined || calls <= step.maxItems) return;
  const items = Array.from({ length: calls - step.maxItems }, (_, index) => ({
    key: itemKey(step.id, step.maxItems + index),
    model,
    maxMillicredits,
  }));
  await extend(stepRun, items);
};
