import type { RequestListener } from "node:http";
import type { Attributes } from "@opentelemetry/api";
import type { resources, tracing } from "@opentelemetry/sdk-node";

/** Where the spans of this process go. */
interface SpanExport {
  processor: tracing.SpanProcessor;
  resource: resources.Resource;
}

let exporting: SpanExport | undefined;

/** From when a process is traced; undefined when it is no more. Without a collector nothing is. */
export const exportSpans = (to: SpanExport | undefined): void => {
  exporting = to;
};

type Api = typeof import("@opentelemetry/api");
let loaded: Api | undefined;
/** Loaded when something is traced. */
const api = (): Api => (loaded ??= require("@opentelemetry/api") as Api);

const TRACER = "nodeloom";

/** What tells a callee the trace; empty when there is none. */
export type TraceHeaders = Record<string, string>;

const MS = 1_000;
const NS_OF_MS = 1_000_000;
/** Milliseconds as OpenTelemetry has them: seconds and nanoseconds. */
const hrTime = (ms: number): [number, number] => [Math.floor(ms / MS), Math.floor((ms % MS) * NS_OF_MS)];

/**
 * Runs a request to somebody else's server as a span.
 * @param run is given the headers that tell the callee the trace; they are its to send, or not
 */
export const inClientSpan = async <T>(
  name: string,
  attributes: Attributes,
  run: (traceHeaders: TraceHeaders) => Promise<T>,
): Promise<T> => {
  if (!exporting) return run({});
  const { context, propagation, SpanKind, SpanStatusCode, trace } = api();
  const span = trace.getTracer(TRACER).startSpan(name, { kind: SpanKind.CLIENT, attributes });
  const own = trace.setSpan(context.active(), span);
  const traceHeaders: TraceHeaders = {};
  propagation.inject(own, traceHeaders);
  try {
    return await context.with(own, () => run(traceHeaders));
  } catch (error) {
    span.setStatus({ code: SpanStatusCode.ERROR });
    throw error;
  } finally {
    span.end();
  }
};

/** Runs something that another process has asked for as a span, in the trace that it tells; in a new one if it tells none. */
export const inCalledSpan = async <T>(name: string, attributes: Attributes, told: TraceHeaders, run: () => Promise<T>): Promise<T> => {
  if (!exporting) return run();
  const { context, propagation, SpanStatusCode, trace } = api();
  const caller = propagation.extract(context.active(), told);
  const span = trace.getTracer(TRACER).startSpan(name, { attributes }, caller);
  try {
    return await context.with(trace.setSpan(caller, span), run);
  } catch (error) {
    span.setStatus({ code: SpanStatusCode.ERROR });
    throw error;
  } finally {
    span.end();
  }
};

/**
 * A span that begins in one process and ends in another. Each that works on it knows its id, and the one that ends it sends it.
 * @returns nothing where no trace is told
 */
export const spanOverProcesses = (name: string, spanId: string, told: TraceHeaders) => {
  if (!exporting) return undefined;
  const { propagation, ROOT_CONTEXT, SpanKind, SpanStatusCode, trace, TraceFlags } = api();
  const parent = trace.getSpanContext(propagation.extract(ROOT_CONTEXT, told));
  if (!parent) return undefined;
  const own = { traceId: parent.traceId, spanId, traceFlags: parent.traceFlags };
  const traceHeaders: TraceHeaders = {};
  propagation.inject(trace.setSpanContext(ROOT_CONTEXT, own), traceHeaders);
  const end = ({ startedAt, hasFailed }: { startedAt: number; hasFailed: boolean }): void => {
    if (!exporting || (own.traceFlags & TraceFlags.SAMPLED) === 0) return;
    const endedAt = Date.now();
    exporting.processor.onEnd({
      ...{ name, kind: SpanKind.INTERNAL, parentSpanContext: parent, spanContext: () => own },
      ...{ startTime: hrTime(startedAt), endTime: hrTime(endedAt), duration: hrTime(endedAt - startedAt), ended: true },
      status: { code: hasFailed ? SpanStatusCode.ERROR : SpanStatusCode.UNSET },
      ...{ attributes: {}, links: [], events: [], resource: exporting.resource, instrumentationScope: { name: TRACER } },
      ...{ droppedAttributesCount: 0, droppedEventsCount: 0, droppedLinksCount: 0 },
    });
  };
  return { traceHeaders, end };
};

/** Asked every few seconds, of interest to nobody. */
const PROBES = /^\/(healthz|livez|readyz|status|metrics)\b/;
const FAULT = 500;

/**
 * Makes each request to an HTTP server a span, in the trace that the caller names. OpenTelemetry's own instrumentation would note
 * addresses of clients, and measure once more what is measured already.
 */
export const inServerSpans = (app: RequestListener): RequestListener => {
  if (!exporting) return app;
  const { context, propagation, SpanKind, SpanStatusCode, trace } = api();
  return (request, response) => {
    if (PROBES.test(request.url ?? "")) return app(request, response);
    const caller = propagation.extract(context.active(), request.headers);
    const { method = "GET" } = request;
    const attributes = { "http.request.method": method };
    const span = trace.getTracer(TRACER).startSpan(method, { kind: SpanKind.SERVER, attributes }, caller);
    response.once("close", () => {
      span.setAttribute("http.response.status_code", response.statusCode);
      if (response.statusCode >= FAULT) span.setStatus({ code: SpanStatusCode.ERROR });
      span.end();
    });
    context.with(trace.setSpan(caller, span), () => app(request, response));
  };
};

/** Runs something that goes on for much longer as a trace of its own, which names the one that it came from. */
export const inLinkedTrace = async <T>(name: string, run: () => Promise<T>): Promise<T> => {
  if (!exporting) return run();
  const { context, trace } = api();
  const from = trace.getSpanContext(context.active());
  const span = trace.getTracer(TRACER).startSpan(name, { root: true, ...(from ? { links: [{ context: from }] } : {}) });
  try {
    return await context.with(trace.setSpan(context.active(), span), run);
  } finally {
    span.end();
  }
};

/** The active span, to be renamed when more is known: of a request, its route. Does nothing without one. */
export const spanNamer = (): ((name: string, attributes: Attributes) => void) => {
  if (!exporting) return () => undefined;
  const span = api().trace.getActiveSpan();
  return (name, attributes) => void span?.updateName(name).setAttributes(attributes);
};
