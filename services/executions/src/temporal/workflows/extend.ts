import { proxyLocalActivities } from "@temporalio/workflow";
import { itemKey, type PlanStep } from "@nodeloom/kernel/graph";
import type { LocalActivities } from "../../contract/activity-types";
import type { RunInput } from "../../contract/run-types";
import { TIMING } from "../../contract/timing";
import type { GraphRun } from "./graph-run";

const { extendHold } = proxyLocalActivities<LocalActivities>({
  startToCloseTimeout: TIMING.localActivity,
  scheduleToCloseTimeout: TIMING.submit,
  retry: { initialInterval: 100, backoffCoefficient: 2, maximumInterval: "10s" },
  localRetryThreshold: "2s",
});

/** Holds the calls of a list that is longer than was known before the run, before any of them is submitted. */
export const holdMore = async (run: GraphRun, input: RunInput, step: PlanStep, calls: number): Promise<void> => {
  const { model, maxMillicredits } = step;
  // Runs of before rows came first hold every call that they may make.
  if (input.attempt === undefined || model === undefined || calls <= step.maxItems) return;
  const { executionId, userId, holdId } = input;
  const { label } = run.node(step.id);
  const items = Array.from({ length: calls - step.maxItems }, (_, index) => ({
    key: itemKey(step.id, step.maxItems + index),
    model,
    maxMillicredits,
  }));
  const held = await extendHold({
    executionId,
    userId,
    holdId,
    nodeId: step.id,
    ...(label === undefined ? {} : { label }),
    maxMillicredits: input.maxMillicredits,
    items,
  });
  run.extended.push(...held);
};
