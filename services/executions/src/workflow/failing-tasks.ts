/**
 * Failing workflow tasks. Temporal repeats a failing task. Until it succeeds, the workflow makes no progress and can't be cancelled. A
 * rollback or a fixed build lets it continue.
 */
import type { Client } from "@temporalio/client";
import { temporal } from "@temporalio/proto";
import { TIMING } from "../run/timing";

type HistoryEvent = temporal.api.history.v1.IHistoryEvent;

/** Consecutive failures of a task on one build's workers, and the time of the first failure. */
export interface Failures {
  count: number;
  since: Date;
}

export interface FailingWorkflow {
  workflowId: string;
  type: string;
}

/** A larger number of failing workflows is reported as this number. */
export const MAX_FAILING = 100;
/** A failing run has few events after its last successful task. */
const LATEST_EVENTS = 100;
const WORKFLOW_QUEUE = temporal.api.enums.v1.TaskQueueType.TASK_QUEUE_TYPE_WORKFLOW;

const failureOf = (event: HistoryEvent) => event.workflowTaskFailedEventAttributes ?? event.workflowTaskTimedOutEventAttributes;

/** True if a worker runs this build: its identity ends with the build's id. */
const isOf = (identity: string | null | undefined, build: string): boolean => Boolean(identity?.endsWith(`@${build}`));

/**
 * Counts consecutive failures on one build's workers. Only the first attempt at a task has events. Any other event, such as a signal, makes
 * Temporal start again with a first attempt.
 * @param events newest first
 * @param attempt pending attempt at the task
 * @returns null if the last recorded failure was on another build
 */
export const failuresIn = (events: readonly HistoryEvent[], attempt: number, build: string): Failures | null => {
  const starters = new Map(
    events.map(({ eventId, workflowTaskStartedEventAttributes: started }) => [String(eventId), started?.identity ?? ""]),
  );
  // The pending attempt hasn't failed yet, and the first attempt is already counted as an event.
  let count = Math.max(0, attempt - 2);
  let since: Date | undefined;
  for (const event of events) {
    if (event.workflowTaskCompletedEventAttributes) break;
    const failed = failureOf(event);
    if (!failed) continue;
    const identity = event.workflowTaskFailedEventAttributes?.identity ?? starters.get(String(failed.startedEventId)) ?? "";
    if (!isOf(identity, build)) break;
    count += 1;
    since = new Date(Number(event.eventTime?.seconds) * 1_000);
  }
  return since ? { count, since } : null;
};

/** True if the workflow was signalled after the last recorded failure. @param events newest first */
export const isSignaled = (events: readonly HistoryEvent[]): boolean => {
  const last = events.find((event) => failureOf(event) ?? event.workflowExecutionSignaledEventAttributes);
  return Boolean(last?.workflowExecutionSignaledEventAttributes);
};

export type FailingTasks = ReturnType<typeof createFailingTasks>;

/** @param build id of the workflow code in this process's worker */
export const createFailingTasks = ({ client, taskQueue, build }: { client: Client; taskQueue: string; build: string }) => {
  const namespace = client.options.namespace;
  const soon = <T>(work: () => Promise<T>): Promise<T> => client.withDeadline(Date.now() + TIMING.startCall, work);

  /** Returns the pending attempt at a workflow's task; 0 if there is none. */
  const pendingAttempt = async (workflowId: string): Promise<number> =>
    (await client.workflow.getHandle(workflowId).describe()).raw.pendingWorkflowTask?.attempt ?? 0;

  const latestEvents = async (workflowId: string): Promise<HistoryEvent[]> => {
    const request = { namespace, execution: { workflowId }, maximumPageSize: LATEST_EVENTS };
    return (await client.workflowService.getWorkflowExecutionHistoryReverse(request)).history?.events ?? [];
  };

  return {
    /** True if the last attempt at a workflow's task failed. @throws if Temporal doesn't respond before the deadline */
    isFailing: (workflowId: string): Promise<boolean> =>
      client.withDeadline(Date.now() + TIMING.failingTaskCall, async () => (await pendingAttempt(workflowId)) > 1),

    /** Returns at most `MAX_FAILING` workflows whose task failed several times in a row, according to Temporal. */
    list: (): Promise<FailingWorkflow[]> =>
      soon(async () => {
        const query = `TaskQueue = "${taskQueue}" AND ExecutionStatus = "Running" AND TemporalReportedProblems IS NOT NULL`;
        const { executions } = await client.workflowService.listWorkflowExecutions({ namespace, query, pageSize: MAX_FAILING });
        return executions.map(({ execution, type }) => ({ workflowId: execution?.workflowId ?? "", type: type?.name ?? "" }));
      }),

    /** True if all workers of the queue have this process's workflow code. During a rollout some have other code. */
    isOneBuild: (): Promise<boolean> =>
      soon(async () => {
        const request = { namespace, taskQueue: { name: taskQueue }, taskQueueType: WORKFLOW_QUEUE };
        const { pollers } = await client.workflowService.describeTaskQueue(request);
        return pollers.length > 0 && pollers.every(({ identity }) => isOf(identity, build));
      }),

    /**
     * Counts consecutive failures of a workflow's task on this build's workers.
     * @returns null if the task doesn't fail, or failed only on other builds. The workflow is then signalled, so that Temporal records
     *   which build fails next.
     */
    failures: (workflowId: string, signal: (workflowId: string) => Promise<void>): Promise<Failures | null> =>
      soon(async () => {
        const attempt = await pendingAttempt(workflowId);
        if (attempt < 2) return null;
        const events = await latestEvents(workflowId);
        const failures = failuresIn(events, attempt, build);
        if (!failures && !isSignaled(events)) await signal(workflowId);
        return failures;
      }),
  };
};
