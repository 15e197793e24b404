/** telemetry/: the context of a request, and traces, logs and metrics. */
import { context, createContextKey, isSpanContextValid, trace } from "@opentelemetry/api";
import { AsyncLocalStorageContextManager } from "@opentelemetry/context-async-hooks";

export interface RequestContext {
  requestId: string;
  executionId?: string;
  /** Time at which the caller stops waiting, in milliseconds since the epoch. */
  deadlineMs?: number;
}

// The request is stored in OpenTelemetry's context together with the span, because on Node.js 20 each AsyncLocalStorage slows down all
// asynchronous code.
context.setGlobalContextManager(new AsyncLocalStorageContextManager());
const REQUEST = createContextKey("nodeloom.request");

export const requestContext = (): RequestContext | undefined => context.active().getValue(REQUEST) as RequestContext | undefined;

export const withRequestContext = <T>(request: RequestContext, run: () => T): T =>
  context.with(context.active().setValue(REQUEST, request), run);

/** Trace id of the current work (32 hexadecimal digits); undefined without tracing. */
export const activeTraceId = (): string | undefined => {
  const span = trace.getActiveSpan()?.spanContext();
  return span && isSpanContextValid(span) ? span.traceId : undefined;
};
