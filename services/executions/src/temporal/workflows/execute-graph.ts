import {
  CancellationScope,
  defineSignal,
  isCancellation,
  ParentClosePolicy,
  proxyLocalActivities,
  setHandler,
  sleep,
  startChild,
  upsertSearchAttributes,
  WorkflowIdReusePolicy,
} from "@temporalio/workflow";
import type { FinalStatus, RunEnd, RunError, RunInput, RunOutcome } from "../../contract/run-types";
import { TIMING } from "../../contract/timing";
import type { Admission, LocalActivities } from "../../contract/activity-types";
import { STATUS } from "../search-attributes";
import { isCalledOff, runError, runStep } from "./call-node";
import { deliverWebhook } from "./deliver-webhook";
import { GraphRun } from "./graph-run";

export const cancelSignal = defineSignal("cancel");

// Admission and settlement must happen, whatever is down meanwhile: they are tried for as long as the run may last.
const { admit, recordCalledOff, voidAdmission, settle, runInstant } = proxyLocalActivities<LocalActivities>({
  startToCloseTimeout: TIMING.localActivity,
  scheduleToCloseTimeout: TIMING.run,
  retry: { initialInterval: 100, backoffCoefficient: 2, maximumInterval: "30s" },
  // Longer pauses are timers of the run, so that an outage does not hold the worker.
  localRetryThreshold: "2s",
});

interface Failure {
  error: RunError;
}

/**
 * Runs steps as they become ready, in parallel. The first failure cancels the rest.
 * @param callOff hears of a cancellation that a step found before the workflow had heard of it
 */
const runSteps = async (run: GraphRun, input: RunInput, callOff: () => void): Promise<Failure | undefined> => {
  const done = new Set(run.nodes.filter((node) => node.status === "completed").map((node) => node.id));
  const started = new Set<string>();
  const running = new Map<string, Promise<void>>();
  let failure: Failure | undefined;
  const scope = new CancellationScope();
  await scope.run(async () => {
    const launch = (): void => {
      for (const step of run.readyAfter(done, started)) {
        started.add(step.id);
        const finished = runStep(run, input, step).then(
          () => void done.add(step.id),
          (error: unknown) => {
            if (isCalledOff(error)) return isCancellation(error) ? undefined : callOff();
            const problem = runError(error, run.node(step.id), input.mode);
            run.fail(step.id, problem, Date.now());
            failure ??= { error: problem };
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
    };
    for (goOn(); running.size > 0; goOn()) await CancellationScope.nonCancellable(() => Promise.race(running.values()));
  });
  return failure;
};

const endOf = (run: GraphRun, failure: Failure | undefined): RunEnd => {
  const complete = failure === undefined && run.isComplete;
  const given = complete ? run.result(Date.now()) : undefined;
  if (given && "error" in given) return endOf(run, given);
  const status: FinalStatus = failure ? "failed" : complete ? "completed" : "cancelled";
  const result = given?.result ?? null;
  run.stopRest(Date.now());
  return { status, result, error: failure?.error ?? null, requestId: run.requestId, nodes: run.nodes, completed: run.completed };
};

const startDelivery = async (input: RunInput): Promise<void> => {
  if (input.mode !== "async" || !input.webhook || input.keyId === null) return;
  await startChild(deliverWebhook, {
    args: [{ executionId: input.executionId, keyId: input.keyId }],
    workflowId: `webhook-${input.executionId}`,
    workflowIdReusePolicy: WorkflowIdReusePolicy.REJECT_DUPLICATE,
    parentClosePolicy: ParentClosePolicy.ABANDON,
  });
};

/** One run: hold the credits, run the graph, settle, announce. */
export async function executeGraph(input: RunInput): Promise<RunOutcome> {
  const steps = new CancellationScope();
  setHandler(cancelSignal, () => steps.cancel());
  // A cancellation from Temporal's own tools means the same as the signal.
  CancellationScope.current().cancelRequested.catch(() => steps.cancel());
  return CancellationScope.nonCancellable(() => (input.plan.steps.length === 0 ? executeInstant(input) : execute(input, steps)));
}

/** Planning left nothing to do. */
const executeInstant = async (input: RunInput): Promise<RunOutcome> => {
  const outcome = await runInstant(input, endOf(new GraphRun(input.plan), undefined));
  if (!("refused" in outcome)) await startDelivery(input);
  return outcome;
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

const execute = async (input: RunInput, steps: CancellationScope): Promise<RunOutcome> => {
  const admission = await admitUnlessCancelled(input, steps);
  if ("refused" in admission) {
    // Whether a hold was made is not known then.
    if (admission.refused.kind === "unavailable" || admission.refused.kind === "internal") await voidAdmission(input.holdId, input.userId);
    if (admission.recorded) await startDelivery(input);
    return { refused: admission.refused };
  }
  const run = new GraphRun(input.plan);
  const failure = await withDeadline(steps, () => steps.run(() => runSteps(run, input, () => steps.cancel())));
  const outcome = await settle(input, endOf(run, failure), "held" in admission ? admission.held : []);
  markStatus(outcome);
  await startDelivery(input);
  return outcome;
};

/** Lets an operator find runs that did not go well; all others are just completed. */
const markStatus = (outcome: RunOutcome): void => {
  if ("refused" in outcome || outcome.status === "completed") return;
  upsertSearchAttributes([{ key: STATUS, value: outcome.status }]);
};

/** Fails the run when it is not done in time. */
const withDeadline = async (scope: CancellationScope, steps: () => Promise<Failure | undefined>): Promise<Failure | undefined> => {
  let late = false;
  const timer = new CancellationScope();
  const deadline = timer.run(async () => {
    await sleep(TIMING.run);
    late = true;
    scope.cancel();
  });
  deadline.catch(() => undefined);
  try {
    const failure = await steps().catch((error: unknown) => {
      if (isCancellation(error)) return undefined;
      throw error;
    });
    return failure ?? (late ? { error: { code: "EXECUTION_FAILED", message: "the run did not finish within 24 hours" } } : undefined);
  } finally {
    timer.cancel();
  }
};
