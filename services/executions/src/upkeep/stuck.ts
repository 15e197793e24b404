import { startSweeper, type Logger, type Sweeper } from "@nodeloom/platform";
import type { FailingTasks, FailingWorkflow } from "../workflow/failing-tasks";
import type { Abandon } from "../lifecycle/abandon";
import { noteFailingTasks } from "../meters";
import { RUNNING } from "../run/states";
import { TIMING } from "../run/timing";
import { RUN_WORKFLOW, type RunError } from "../run/types";
import { checkEach } from "../record/look";
import type { Stores } from "../record/stores";

/** If this many runs fail, the build is the cause. The runs wait for a rollback, and none is ended. */
const MANY_RUNS = 5;
const MIN_FAILURES = 10;
const STUCK: RunError = {
  code: "EXECUTION_FAILED",
  message: `the run could not continue: its workflow failed ${MIN_FAILURES} times in a row. Run it again; if it fails again, report its execution id`,
};

export interface StuckOptions {
  stores: Pick<Stores, "rows">;
  tasks: Pick<FailingTasks, "list" | "isOneBuild" | "failures">;
  starter: { placed(executionId: string): Promise<void> };
  abandon: Abandon;
  logger: Logger;
  now?: () => number;
}

const isRun = ({ type }: FailingWorkflow): boolean => type === RUN_WORKFLOW;

/**
 * Finds workflows whose tasks fail, and counts them for an alert. If cancellation was requested, the run is ended. Otherwise the run fails
 * only under three conditions: its task failed at least 10 times in at least 10 minutes, every worker has the build on which it failed, and
 * fewer than 5 runs fail. A bad rollout must never fail runs in flight.
 */
export const createStuckSweep = ({ stores, tasks, starter, abandon, logger, now = Date.now }: StuckOptions) => {
  const hasFailedEnough = async (executionId: string): Promise<boolean> => {
    const failures = await tasks.failures(executionId, starter.placed);
    return failures !== null && failures.count >= MIN_FAILURES && now() - failures.since.getTime() >= TIMING.failingTask;
  };

  return async (stopping?: AbortSignal): Promise<void> => {
    const failing = await tasks.list();
    noteFailingTasks(failing.map(({ type }) => type));
    const runs = failing.filter(isRun);
    if (runs.length === 0) return;
    const mayFail = runs.length < MANY_RUNS && (await tasks.isOneBuild());
    const check = async ({ workflowId }: FailingWorkflow): Promise<boolean> => {
      const row = await stores.rows.find(workflowId);
      if (!row || !RUNNING.includes(row.status)) return false;
      if (row.status !== "cancel_requested" && !(mayFail && (await hasFailedEnough(workflowId)))) return false;
      const endedRow = await abandon(row, STUCK);
      logger.error({ executionId: workflowId, status: endedRow?.status }, "ended a run whose workflow task failed again and again");
      return true;
    };
    await checkEach(runs, {
      beat: () => stopping?.throwIfAborted(),
      check,
      failed: ({ workflowId }, err) =>
        logger.warn({ err, executionId: workflowId }, "a run whose workflow task fails could not be checked"),
    });
  };
};

/** Every process runs this check, so that each counts failing tasks for the alert. */
export const startStuckWatch = (options: StuckOptions): Sweeper =>
  startSweeper({
    sweep: createStuckSweep(options),
    intervalMs: TIMING.failingTaskEvery,
    onFailure: (error) => options.logger.debug({ err: error }, "workflows whose tasks fail could not be looked for"),
  });
