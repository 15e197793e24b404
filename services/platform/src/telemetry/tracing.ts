import type { RequestListener } from "node:http";
import type { Attributes } from "@opentelemetry/api";
import { activeSpan, withSpan } from "./context";
import { endSpan, startSpan, startSpanAt, type Span, type SpanStart } from "./span";
import { fromTraceHeaders, toTraceHeaders, type TraceHeaders } from "./trace-place";

const untilEnd = async <T>(span: Span, run: () => Promise<T>): Promise<T> => {
  try {
    return await withSpan(span, run);
  } catch (error) {
    span.hasFailed = true;
    throw error;
  } finally {
    endSpan(span);
  }
};

/** Runs something as one span, which ends with it. */
export const inSpan = <T>(start: SpanStart, run: () => Promise<T>): Promise<T> => {
  const span = startSpan(start);
  return span ? untilEnd(span, run) : run();
};

/**
 * Runs a request to somebody else's server as a span.
 * @param run is given the headers that tell the callee the trace; they are its to send, or not
 */
export const inClientSpan = <T>(name: string, attributes: Attributes, run: (traceHeaders: TraceHeaders) => Promise<T>): Promise<T> => {
  const span = startSpan({ name, kind: "client", attributes, within: activeSpan() });
  return span ? untilEnd(span, () => run(toTraceHeaders(span))) : run({});
};

/** Runs something that another process has asked for as a span, in the trace that it tells; in a new one if it tells none. */
export const inCalledSpan = <T>(name: string, attributes: Attributes, told: TraceHeaders, run: () => Promise<T>): Promise<T> =>
  inSpan({ name, attributes, told: fromTraceHeaders((header) => told[header]) }, run);

/**
 * A span that begins in one process and ends in another. Each that works on it knows its id, and the one that ends it sends it.
 * @returns nothing where no trace is told
 */
export const spanOverProcesses = (name: string, spanId: string, told: TraceHeaders) => {
  const parent = fromTraceHeaders((header) => told[header]);
  const span = parent && startSpanAt({ name, told: parent }, spanId);
  if (!span) return undefined;
  const end = ({ startedAt, hasFailed }: { startedAt: number; hasFailed: boolean }): void =>
    endSpan({ ...span, startedAt, hasFailed }, Date.now() - startedAt);
  return { traceHeaders: toTraceHeaders(span), end };
};

/** Asked every few seconds, of interest to nobody. */
const PROBES = /^\/(healthz|livez|readyz|status|metrics)\b/;
const FAULT = 500;

/**
 * Makes each request to an HTTP server a span, in the trace that the caller names. OpenTelemetry's own instrumentation would note
 * addresses of clients, and measure once more what is measured already.
 */
export const inServerSpans =
  (app: RequestListener): RequestListener =>
  (request, response) => {
    const { method = "GET", url = "" } = request;
    if (PROBES.test(url)) return app(request, response);
    const told = fromTraceHeaders((header) => request.headers[header]);
    const span = startSpan({ name: method, kind: "server", attributes: { "http.request.method": method }, told });
    if (!span) return app(request, response);
    response.once("close", () => {
      span.attributes = { ...span.attributes, "http.response.status_code": response.statusCode };
      span.hasFailed = response.statusCode >= FAULT;
      endSpan(span);
    });
    withSpan(span, () => app(request, response));
  };

/** Runs something that goes on for much longer as a trace of its own, which names the one that it came from. */
export const inLinkedTrace = <T>(name: string, run: () => Promise<T>): Promise<T> => inSpan({ name, link: activeSpan() }, run);

export type NameSpan = (name: string, attributes: Attributes) => void;

/** The active span, to be renamed when more is known: of a request, its route. Does nothing without one. */
export const spanNamer = (): NameSpan => {
  const span = activeSpan();
  return (name, attributes) => {
    if (!span) return;
    span.name = name;
    span.attributes = { ...span.attributes, ...attributes };
  };
};
