import type { Payload } from "@temporalio/common";
import type { WorkflowInterceptorsFactory } from "@temporalio/workflow";

/** Temporal header with the trace, as used by the interceptors of Temporal's SDKs. */
export const TRACE_HEADER = "_tracer-data";

/** Passes the trace of a workflow's start to its activities. It creates no spans; see ADR 0017. */
export const interceptors: WorkflowInterceptorsFactory = () => {
  let trace: Record<string, Payload> = {};
  return {
    inbound: [
      {
        execute: (input, next) => {
          const header = input.headers[TRACE_HEADER];
          if (header) trace = { [TRACE_HEADER]: header };
          return next(input);
        },
      },
    ],
    outbound: [
      {
        scheduleActivity: (input, next) => next({ ...input, headers: { ...input.headers, ...trace } }),
        scheduleLocalActivity: (input, next) => next({ ...input, headers: { ...input.headers, ...trace } }),
      },
    ],
  };
};
