import type { RequestListener } from "node:http";
import {
  context,
  propagation,
  SpanKind,
  SpanStatusCode,
  trace,
  type Attributes,
  type Context,
  type Span,
  type SpanOptions,
  type TextMapGetter,
  type Tracer,
} from "@opentelemetry/api";

/** Headers that tell a callee the trace, as the W3C's Trace Context has them; empty where this process is not traced. */
export type TraceHeaders = Record<string, string>;

/** Without a collector its spans do nothing. */
const tracer = (): Tracer => trace.getTracer("nodeloom");
const FAILED = { code: SpanStatusCode.ERROR };

/** Starts a span that is part of the active one. */
export const startSpan = (name: string, options: SpanOptions): Span => tracer().startSpan(name, options);

/** Runs a function (and all it awaits) as part of a span. */
export const withSpan = <T>(span: Span, run: () => T): T => context.with(trace.setSpan(context.active(), span), run);

/** Notes on a span that what it stands for failed. Errors' texts are left out: they may quote inputs. */
export const failSpan = (span: Span): void => void span.setStatus(FAILED);

/** Runs something as one span, which ends with it. @param parent where the span belongs */
export const inSpan = <T>(name: string, options: SpanOptions, run: () => Promise<T>, parent: Context = context.active()): Promise<T> =>
  tracer().startActiveSpan(name, options, parent, async (span) => {
    try {
      return await run();
    } catch (error) {
      failSpan(span);
      throw error;
    } finally {
      span.end();
    }
  });

/** Writes the active trace into what a call carries. */
export const injectTrace = (set: (key: string, value: string) => void): void =>
  propagation.inject(context.active(), undefined, { set: (_carrier, key, value) => set(key, value) });

/**
 * Runs a request to somebody else's server as a span.
 * @param run is given the headers that tell the callee the trace, to send or not
 */
export const inClientSpan = <T>(name: string, attributes: Attributes, run: (traceHeaders: TraceHeaders) => Promise<T>): Promise<T> =>
  inSpan(name, { kind: SpanKind.CLIENT, attributes }, () => {
    const headers: TraceHeaders = {};
    injectTrace((key, value) => (headers[key] = value));
    return run(headers);
  });

/** The trace that a caller tells, or none, whatever is under way here. */
export const tracedByCaller = <C>(carrier: C, getter?: TextMapGetter<C>): Context =>
  propagation.extract(trace.deleteSpan(context.active()), carrier, getter);

/** Runs something that another process has asked for as a span of the trace that it tells. */
export const inCalledSpan = <T>(name: string, attributes: Attributes, told: TraceHeaders, run: () => Promise<T>): Promise<T> =>
  inSpan(name, { attributes }, run, tracedByCaller(told));

/** What probes ask every few seconds. */
const PROBES = /^\/(healthz|livez|readyz|status|metrics)\b/;
const FAULT = 500;

/**
 * Makes each request to an HTTP server a span, in the trace that the caller names. OpenTelemetry's instrumentation would note
 * addresses of clients, and measure a second time what the gateway measures.
 */
export const inServerSpans =
  (app: RequestListener): RequestListener =>
  (request, response) => {
    const { method = "GET", url = "", headers } = request;
    if (PROBES.test(url)) return app(request, response);
    const parent = tracedByCaller(headers);
    const span = tracer().startSpan(method, { kind: SpanKind.SERVER, attributes: { "http.request.method": method } }, parent);
    response.once("close", () => {
      span.setAttribute("http.response.status_code", response.statusCode);
      if (response.statusCode >= FAULT) failSpan(span);
      span.end();
    });
    context.with(trace.setSpan(parent, span), () => app(request, response));
  };

/** Runs something that goes on for much longer as a trace of its own, which names the one that it came from. */
export const inLinkedTrace = <T>(name: string, run: () => Promise<T>): Promise<T> => {
  const from = trace.getActiveSpan()?.spanContext();
  return inSpan(name, { root: true, links: from ? [{ context: from }] : [] }, run);
};

export type NameSpan = (name: string, attributes: Attributes) => void;

/** The active span, to be renamed when more is known: of a request, its route. Does nothing without one. */
export const spanNamer = (): NameSpan => {
  const span = trace.getActiveSpan();
  return (name, attributes) => void span?.updateName(name).setAttributes(attributes);
};
