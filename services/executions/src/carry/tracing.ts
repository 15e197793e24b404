import type { WorkflowClientInterceptor } from "@temporalio/client";
import type { Headers } from "@temporalio/common";
import type { ActivityInterceptorsFactory } from "@temporalio/worker";
import type { Workflow, WorkflowCreateOptions } from "@temporalio/worker/lib/workflow/interface";
import { inCalledSpan, inClientSpan, spanOverProcesses, type TraceHeaders } from "@nodeloom/platform";
import { payloadConverter } from "./payloads/converter";

/**
 * Continues a request's trace through the start of its workflow, the workflow and its activities. No workflow code takes part: the
 * worker's calls to the workflow's thread are wrapped, so that activations are read and activity commands get the trace's headers.
 */

/** Where the trace is in Temporal's headers, as its SDKs' own interceptors have it. */
const HEADER = "_tracer-data";

const toHeaders = (trace: TraceHeaders): Headers =>
  Object.keys(trace).length === 0 ? {} : { [HEADER]: payloadConverter.toPayload<TraceHeaders>(trace) };

const fromHeaders = (headers: Headers | null | undefined): TraceHeaders => {
  const payload = headers?.[HEADER];
  return payload ? payloadConverter.fromPayload<TraceHeaders>(payload) : {};
};

export const tracedStarts: WorkflowClientInterceptor = {
  startWithDetails: (input, next) =>
    inClientSpan(`StartWorkflow:${input.workflowType}`, {}, (trace) =>
      next({ ...input, headers: { ...input.headers, ...toHeaders(trace) } }),
    ),
};

export const tracedActivities: ActivityInterceptorsFactory = ({ info }) => ({
  inbound: {
    execute: (input, next) => {
      const attributes = { "temporal.attempt": info.attempt };
      return inCalledSpan(`RunActivity:${info.activityType}`, attributes, fromHeaders(input.headers), () => next(input));
    },
  },
});

type Completion = Awaited<ReturnType<Workflow["activate"]>>;
type Commands = NonNullable<NonNullable<Completion["successful"]>["commands"]>;

/** The random half of the run's id, so that every worker that has a part in the workflow knows the id of its span. */
const spanIdOf = (runId: string): string => runId.replaceAll("-", "").slice(-16);

/** A copy of a workflow's handle with some of its methods replaced. A spread would lose those of its class. */
export const around = (workflow: Workflow, other: Partial<Workflow>): Workflow => ({
  activate: (activation) => workflow.activate(activation),
  getAndResetSinkCalls: () => workflow.getAndResetSinkCalls(),
  dispose: () => workflow.dispose(),
  ...other,
});

/** Sets the trace's headers on commands that schedule activities. @returns how the workflow has ended, where a command ends it */
const passOn = (commands: Commands, headers: Headers): "completed" | "failed" | undefined => {
  let end: "completed" | "failed" | undefined;
  for (const command of commands) {
    const activity = command.scheduleActivity ?? command.scheduleLocalActivity;
    if (activity) activity.headers = { ...activity.headers, ...headers };
    if (command.completeWorkflowExecution ?? command.cancelWorkflowExecution) end = "completed";
    if (command.failWorkflowExecution) end = "failed";
  }
  return end;
};

/** Makes a workflow one span of the trace that it was started in, and the parent of its activities' spans. */
export const tracedWorkflow = (workflow: Workflow, { info }: WorkflowCreateOptions): Workflow => {
  const { workflowType, runId, startTime } = info;
  let span: ReturnType<typeof spanOverProcesses>;
  let headers: Headers = {};
  return around(workflow, {
    activate: async (activation) => {
      const begun = activation.jobs?.find(({ initializeWorkflow }) => initializeWorkflow)?.initializeWorkflow;
      if (begun) {
        span = spanOverProcesses(`RunWorkflow:${workflowType}`, spanIdOf(runId), fromHeaders(begun.headers));
        headers = span ? toHeaders(span.traceHeaders) : {};
      }
      const completion = await workflow.activate(activation);
      if (!span) return completion;
      const end = passOn(completion.successful?.commands ?? [], headers);
      // During a replay, the span was exported before, by the worker that first completed the workflow.
      if (end && activation.isReplaying !== true) span.end({ startedAt: startTime.getTime(), hasFailed: end === "failed" });
      return completion;
    },
  });
};
