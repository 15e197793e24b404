import {
  CancellationScope,
  defineSignal,
  isCancellation,
  setHandler,
  sleep,
  upsertSearchAttributes,
  workflowInfo,
} from "@temporalio/workflow";
import type { RunEnd, RunError, RunInput, RunOutcome } from "../../run/types";
import { TIMING } from "../../run/timing";
import { STATUS } from "../names";
import { isRunCancelled, runError } from "./calls/failures";
import { runStep } from "./calls/step";
import { createApprovals, type Approvals } from "./approvals";
import { GraphRun } from "../../run/graph-run";
import { initialNodes, skipPending } from "../../run/nodes";
import { claim, settle } from "./steps";
import { createBatches } from "./calls/schedule";

export const cancelSignal = defineSignal("cancel");

/**
 * Runs steps in parallel as they become ready. The first failure cancels the remaining steps.
 * @param cancelSteps called if a step notices a cancellation before the workflow
 */
const runSteps = async (run: GraphRun, input: RunInput, approvals: Approvals, cancelSteps: () => void): Promise<RunError | undefined> => {
  const batches = createBatches(input.plan.maxCalls);
  const doneIds = new Set(run.nodes.filter(({ status }) => status !== "pending").map((node) => node.id));
  const started = new Set<string>();
  const running = new Map<string, Promise<void>>();
  let failure: RunError | undefined;
  const scope = new CancellationScope();
  await scope.run(async () => {
    const launch = (): void => {
      const ready = run.readyAfter(doneIds, started);
      // True if no other step becomes ready while it runs.
      const isAlone = ready.length === 1 && running.size === 0;
      for (const step of ready) {
        started.add(step.id);
        const finished = runStep({ run, input, step, batches, isAlone, approvals }).then(
          () => void doneIds.add(step.id),
          (error: unknown) => {
            if (isRunCancelled(error)) return isCancellation(error) ? undefined : cancelSteps();
            const problem = runError(error, run.node(step.id), input.mode);
            run.fail(step.id, problem, Date.now());
            failure ??= problem;
            scope.cancel();
          },
        );
        running.set(
          step.id,
          finished.then(() => void running.delete(step.id)),
        );
      }
    };
    const goOn = (): void => {
      if (!failure && !scope.consideredCancelled) launch();
      approvals.underWay(running.size);
    };
    for (goOn(); running.size > 0; goOn()) await CancellationScope.nonCancellable(() => Promise.race(running.values()));
  });
  return failure;
};

/** Claims the row of a run, runs the graph and settles the run. */
export async function executeGraph(input: RunInput): Promise<RunOutcome> {
  const steps = new CancellationScope();
  setHandler(cancelSignal, () => steps.cancel());
  // A cancellation in Temporal's tools has the same effect as the signal.
  CancellationScope.current().cancelRequested.catch(() => steps.cancel());
  return CancellationScope.nonCancellable(async () => {
    const { executionId, attempt } = input;
    if (!(await claim({ executionId, attempt, claimedBy: workflowInfo().firstExecutionRunId }))) return { unclaimed: true };
    const outcome = await settleInOrder(input, await runGraph(input, steps));
    markStatus(outcome);
    return outcome;
  });
}

const runGraph = async (input: RunInput, steps: CancellationScope): Promise<RunEnd> => {
  const run = new GraphRun(input.plan);
  const approvals = createApprovals(input);
  return run.end(await withDeadline(steps, approvals, () => steps.run(() => runSteps(run, input, approvals, () => steps.cancel()))));
};

/** Settles a run. If its end can't be recorded, a failure is recorded instead. */
const settleInOrder = async (input: RunInput, end: RunEnd): Promise<RunOutcome> => {
  try {
    return await settle(input, end);
  } catch {
    const error: RunError = { code: "EXECUTION_FAILED", message: "the end of the run couldn't be stored: retry" };
    const nodes = skipPending(initialNodes(input.plan));
    return settle(input, { ...end, status: "failed", result: null, error, nodes });
  }
};

/** Lets operators find failed and cancelled runs. */
const markStatus = (outcome: RunOutcome): void => {
  if (!("status" in outcome) || outcome.status === "completed") return;
  upsertSearchAttributes([{ key: STATUS, value: outcome.status }]);
};

/** Fails the run at its deadline. Time spent waiting for decisions doesn't count. */
const withDeadline = async (
  scope: CancellationScope,
  { waitedMs, whileWaiting }: Approvals,
  steps: () => Promise<RunError | undefined>,
): Promise<RunError | undefined> => {
  const startedAt = Date.now();
  let late = false;
  const timer = new CancellationScope();
  const deadline = timer.run(async () => {
    for (let remainingMs: number = TIMING.run; remainingMs > 0; remainingMs = startedAt + TIMING.run + waitedMs() - Date.now()) {
      await sleep(remainingMs);
      await whileWaiting();
    }
    late = true;
    scope.cancel();
  });
  deadline.catch(() => undefined);
  try {
    const failure = await steps().catch((error: unknown) => {
      if (isCancellation(error)) return undefined;
      throw error;
    });
    return failure ?? (late ? { code: "EXECUTION_FAILED", message: "the run did not finish within 24 hours" } : undefined);
  } finally {
    timer.cancel();
  }
};
