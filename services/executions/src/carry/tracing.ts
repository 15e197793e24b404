import type { WorkflowClientInterceptor } from "@temporalio/client";
import type { ActivityInterceptorsFactory } from "@temporalio/worker";
import { inCalledSpan, inClientSpan, type TraceHeaders } from "@nodeloom/platform";
import { payloadConverter } from "./payloads/converter";
import { TRACE_HEADER } from "./workflows/trace";

/** Continues a request's trace through the start of its workflow and, by the workflow's interceptor, its activities. */

export const tracedStarts: WorkflowClientInterceptor = {
  startWithDetails: (input, next) =>
    inClientSpan(`StartWorkflow:${input.workflowType}`, {}, (trace) => {
      const isTraced = Object.keys(trace).length > 0;
      return next(isTraced ? { ...input, headers: { ...input.headers, [TRACE_HEADER]: payloadConverter.toPayload(trace) } } : input);
    }),
};

export const tracedActivities: ActivityInterceptorsFactory = ({ info }) => ({
  inbound: {
    execute: (input, next) => {
      const told = input.headers[TRACE_HEADER];
      const trace = told ? payloadConverter.fromPayload<TraceHeaders>(told) : {};
      return inCalledSpan(`RunActivity:${info.activityType}`, { "temporal.attempt": info.attempt }, trace, () => next(input));
    },
  },
});
