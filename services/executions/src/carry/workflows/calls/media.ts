import { CancellationScope } from "@temporalio/workflow";
import { itemKey, PRICED_INPUTS } from "@nodeloom/kernel/graph";
import type { CancelResult, FollowedJob, ModelCall, SubmittedJob } from "../../../run/calls";
import type { CallResult } from "../../../run/types";
import { TIMING } from "../../../run/timing";
import { isRunCancelled, jobMayRun, saidJobMayRun } from "./failures";
import { giveCall, giveJob } from "../../../run/call-results";
import type { GraphRun } from "../../../run/graph-run";
import { cancelJob, poll, runFiles, shortJob, stopFiles, submit } from "../steps";
import { shortly } from "./short";
import { plainSummary } from "./summary";

/** Calls of models that make files: by jobs, or by one answer. */

/** Stops a call and notes how that went; what had been finished by then counts. */
const stopCall = (run: GraphRun, call: ModelCall, stop: () => Promise<CancelResult>): Promise<CallResult | null> =>
  CancellationScope.nonCancellable(async () => {
    try {
      const { report, finished } = await stop();
      run.stopped(call.nodeId, report);
      return finished && giveCall(run, call, finished);
    } catch {
      run.stopped(call.nodeId, "could_not_stop");
      return null;
    }
  });

const cancelSummary = (call: ModelCall): { summary: string } => ({ summary: plainSummary(`${call.nodeId}: cancel`) });

const stopJob = (run: GraphRun, call: ModelCall, job: SubmittedJob): Promise<CallResult | null> =>
  stopCall(run, call, () => cancelJob.executeWithOptions(cancelSummary(call), [submitted(call), job]));

/** A call that was submitted: of its inputs only the one matters still that its price depends on. */
const submitted = (call: ModelCall): ModelCall => {
  const { basis } = call.price;
  const priced = basis === "run" ? undefined : PRICED_INPUTS[basis];
  return { ...call, inputs: Object.fromEntries(Object.entries(call.inputs).filter(([name]) => name === priced)) };
};

/** A provider that makes files: two activities, however long it takes. A job that does not take long is one step. */
export const callJob = async (run: GraphRun, call: ModelCall, isAlone: boolean): Promise<CallResult> => {
  const summary = plainSummary(`${call.nodeId}: ${call.model}`);
  const { job, result: finished } = await shortly<FollowedJob>(
    isAlone,
    () => shortJob.executeWithOptions({ summary }, [call]),
    async () => ({ job: await submit.executeWithOptions({ summary }, [call]) }),
  ).catch((error: unknown) => {
    // Its job has no name here by which the provider could be told.
    if (isRunCancelled(error) && saidJobMayRun(error)) run.stopped(call.nodeId, "could_not_stop");
    throw error;
  });
  giveJob(run, call, job.requestId);
  if (finished) return giveCall(run, call, finished);
  const heartbeatTimeout = job.heartbeatTimeoutMs ?? TIMING.heartbeatQuick;
  try {
    return giveCall(run, call, await poll.executeWithOptions({ summary, heartbeatTimeout }, [submitted(call), job]));
  } catch (error) {
    // A job that failed is free, however its run ends.
    if (!isRunCancelled(error)) run.submitted.delete(itemKey(call.nodeId, call.item));
    // Its result is not waited for any more: the provider is told, too.
    if (!jobMayRun(error)) throw error;
    const kept = await stopJob(run, call, job);
    if (kept) return kept;
    throw error;
  }
};

/** A provider that answers with files: one activity. */
export const callFiles = async (run: GraphRun, call: ModelCall): Promise<CallResult> => {
  try {
    return giveCall(run, call, await runFiles.executeWithOptions({ summary: plainSummary(`${call.nodeId}: ${call.model}`) }, [call]));
  } catch (error) {
    if (!isRunCancelled(error)) throw error;
    const finished = await stopCall(run, call, () => stopFiles.executeWithOptions(cancelSummary(call), [call]));
    if (finished) return finished;
    throw error;
  }
};
