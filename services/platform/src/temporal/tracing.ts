import type { WorkflowClientInterceptor } from "@temporalio/client";
import type { ActivityInterceptorsFactory } from "@temporalio/worker";
import { withRequestContext } from "../telemetry/context";
import { inCalledSpan, inClientSpan, type TraceHeaders } from "../telemetry/tracing";
import { payloadConverter } from "./converter";
import { TRACE_HEADER } from "./trace";

/** Continues a request's trace when its workflow starts. The workflow's interceptor continues it in activities. */

export const tracedStarts: WorkflowClientInterceptor = {
  startWithDetails: (input, next) =>
    inClientSpan(`StartWorkflow:${input.workflowType}`, {}, (trace) => {
      const isTraced = Object.keys(trace).length > 0;
      return next(isTraced ? { ...input, headers: { ...input.headers, [TRACE_HEADER]: payloadConverter.toPayload(trace) } } : input);
    }),
};

const EXECUTION_ID = /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/;

/** Adds the run's id to logs and calls of activities. The workflow's id is, or contains, the run's id. */
export const tracedActivities: ActivityInterceptorsFactory = ({ info }) => ({
  inbound: {
    execute: (input, next) => {
      const header = input.headers[TRACE_HEADER];
      const trace = header ? payloadConverter.fromPayload<TraceHeaders>(header) : {};
      const work = () => inCalledSpan(`RunActivity:${info.activityType}`, { "temporal.attempt": info.attempt }, trace, () => next(input));
      const [executionId] = EXECUTION_ID.exec(info.workflowExecution?.workflowId ?? "") ?? [];
      return executionId === undefined ? work() : withRequestContext({ requestId: executionId, executionId }, work);
    },
  },
});
