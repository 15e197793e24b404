import { Worker } from "@temporalio/worker";
import type { Workflow, WorkflowCreator } from "@temporalio/worker/lib/workflow/interface";
import { around, tracedWorkflow } from "./tracing";

/**
 * How often it is seen to that the thread of workflow code answers, and for how many looks in a row it may not. Node can't break
 * code off without ending the process: this is for code that never ends, and no bound on a run of a thousand calls on a busy
 * machine, which takes seconds. Looks are counted, and not time, in which the whole process may have stood still.
 */
const LOOK_EVERY_MS = 10_000;
const SILENT_LOOKS = 12;

export type AnswerWatch = ReturnType<typeof watchAnswers>;

/** @param onSilent nothing was answered for so many looks, while something should be */
export const watchAnswers = (onSilent: () => void) => {
  let waiting = 0;
  let looks = 0;
  const timer = setInterval(() => {
    looks = waiting === 0 ? 0 : looks + 1;
    if (looks === SILENT_LOOKS) onSilent();
  }, LOOK_EVERY_MS).unref();
  return {
    /** Something that should be answered. */
    watch: <T>(work: Promise<T>): Promise<T> => {
      waiting += 1;
      return work.finally(() => {
        waiting -= 1;
        looks = 0;
      });
    },
    stop: (): void => clearInterval(timer),
  };
};

/** A workflow whose log lines are fetched from its thread only after something went wrong: others are below the level that is told. */
const quiet = (workflow: Workflow): Workflow => {
  let hasFailed = false;
  return around(workflow, {
    activate: async (activation) => {
      hasFailed = true;
      const completion = await workflow.activate(activation);
      const commands = completion.successful?.commands;
      hasFailed = !commands || commands.some(({ failWorkflowExecution }) => failWorkflowExecution);
      return completion;
    },
    getAndResetSinkCalls: async () => (hasFailed ? workflow.getAndResetSinkCalls() : []),
  });
};

/**
 * Temporal's worker, at less cost. The SDK bounds each call into workflow code, fifteen for a short run, by a thread that Node
 * starts for it and ends after it; here one timer sees to the thread of workflow code. And after each step of a workflow it asks that
 * thread for calls of sinks, of which there are none but log lines.
 */
export class RunWorker extends Worker {
  protected static override async createWorkflowCreator(
    ...[bundle, options, logger]: Parameters<(typeof Worker)["createWorkflowCreator"]>
  ): Promise<WorkflowCreator> {
    const unbounded = { ...options, isolateExecutionTimeoutMs: undefined as never };
    const creator = await super.createWorkflowCreator(bundle, unbounded, logger);
    const { watch, stop } = watchAnswers(() => {
      logger.error("workflow code does not end");
      process.exit(1);
    });
    return {
      createWorkflow: async (created) => {
        const workflow = await watch(creator.createWorkflow(created));
        return tracedWorkflow(quiet(around(workflow, { activate: (activation) => watch(workflow.activate(activation)) })), created);
      },
      destroy: () => {
        stop();
        return creator.destroy();
      },
    };
  }
}
