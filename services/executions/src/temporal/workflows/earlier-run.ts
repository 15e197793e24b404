import {
  type CancellationScope,
  isCancellation,
  ParentClosePolicy,
  startChild,
  upsertSearchAttributes,
  WorkflowIdReusePolicy,
} from "@temporalio/workflow";
import type { Admission } from "../../contract/activity-types";
import type { RunEnd, RunInput, RunOutcome } from "../../contract/run-types";
import { STATUS } from "../search-attributes";
import { deliverWebhook } from "./deliver-webhook";
import { GraphRun } from "./graph-run";
import { endOf } from "./run-end";
import { admit, recordCalledOff, runInstant, settle, voidAdmission } from "./steps";

/**
 * Runs that were started before rows came first: their workflows hold the credits and record the run themselves. They take
 * a day at most; histories of them are replayed by the tests for as long as this is here.
 */

const startDelivery = async (input: RunInput): Promise<void> => {
  if (input.mode !== "async" || !input.webhook || input.keyId === null) return;
  await startChild(deliverWebhook, {
    args: [{ executionId: input.executionId, keyId: input.keyId }],
    workflowId: `webhook-${input.executionId}`,
    workflowIdReusePolicy: WorkflowIdReusePolicy.REJECT_DUPLICATE,
    parentClosePolicy: ParentClosePolicy.ABANDON,
  });
};

/** Admits a run. One that is cancelled meanwhile is recorded as that, and waits for its hold no longer. */
const admitUnlessCancelled = async (input: RunInput, steps: CancellationScope): Promise<Admission> => {
  const admission = await steps
    .run(() => admit(input))
    .catch((error: unknown): Admission => {
      if (isCancellation(error)) return { calledOff: true };
      throw error;
    });
  if (!("calledOff" in admission)) return admission;
  steps.cancel();
  await recordCalledOff(input);
  return admission;
};

export const executeEarlierRun = async (
  input: RunInput,
  steps: CancellationScope,
  runGraph: () => Promise<RunEnd>,
): Promise<RunOutcome> => {
  if (input.plan.steps.length === 0) {
    const outcome = await runInstant(input, endOf(new GraphRun(input.plan), undefined));
    if (!("refused" in outcome)) await startDelivery(input);
    return outcome;
  }
  const admission = await admitUnlessCancelled(input, steps);
  if ("refused" in admission) {
    // Whether a hold was made is not known then.
    if (admission.refused.kind === "unavailable" || admission.refused.kind === "internal") await voidAdmission(input.holdId, input.userId);
    if (admission.recorded) await startDelivery(input);
    return { refused: admission.refused };
  }
  const end = await runGraph();
  const outcome = await settle(input, end, "held" in admission ? admission.held : []);
  if ("status" in outcome && outcome.status !== "completed") upsertSearchAttributes([{ key: STATUS, value: outcome.status }]);
  await startDelivery(input);
  return outcome;
};
