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

/** Headers of W3C Trace Context; empty without tracing. */
export type TraceHeaders = Record<string, string>;

/** Without a collector, the tracer's spans do nothing. */
const tracer = (): Tracer => trace.getTracer("nodeloom");
const FAILED = { code: SpanStatusCode.ERROR };

export const startSpan = (name: string, options: SpanOptions): Span => tracer().startSpan(name, options);

export const withSpan = <T>(span: Span, run: () => T): T => context.with(trace.setSpan(context.active(), span), run);

/** Error messages are omitted, because they can quote inputs. */
export const failSpan = (span: Span): void => void span.setStatus(FAILED);

/**
 * Runs a function in a span that ends with it.
 * @param parent context of the span
 */
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

export const injectTrace = (set: (key: string, value: string) => void): void =>
  propagation.inject(context.active(), undefined, { set: (_carrier, key, value) => set(key, value) });

/**
 * Runs a request to an external server in a span.
 * @param run gets the trace headers, which it can send
 */
export const inClientSpan = <T>(name: string, attributes: Attributes, run: (traceHeaders: TraceHeaders) => Promise<T>): Promise<T> =>
  inSpan(name, { kind: SpanKind.CLIENT, attributes }, () => {
    const headers: TraceHeaders = {};
    injectTrace((key, value) => (headers[key] = value));
    return run(headers);
  });

/** Context of the caller's trace. Without one, a new trace starts, even if other work is active. */
export const tracedByCaller = <C>(carrier: C, getter?: TextMapGetter<C>): Context =>
  propagation.extract(trace.deleteSpan(context.active()), carrier, getter);

export const inCalledSpan = <T>(name: string, attributes: Attributes, callerHeaders: TraceHeaders, run: () => Promise<T>): Promise<T> =>
  inSpan(name, { attributes }, run, tracedByCaller(callerHeaders));

const PROBES = /^\/(healthz|livez|readyz|status|metrics)\b/;
const FAULT = 500;

/**
 * Makes each request to an HTTP server a span in the caller's trace. OpenTelemetry's instrumentation isn't used, because it would record
 * client addresses and repeat the gateway's measurements.
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

/** Runs long work in a separate trace that is linked to the current one. */
export const inLinkedTrace = <T>(name: string, run: () => Promise<T>): Promise<T> => {
  const from = trace.getActiveSpan()?.spanContext();
  return inSpan(name, { root: true, links: from ? [{ context: from }] : [] }, run);
};

export type NameSpan = (name: string, attributes: Attributes) => void;

/** Returns a function that renames the active span when more is known, such as a request's route. Does nothing without a span. */
export const spanNamer = (): NameSpan => {
  const span = trace.getActiveSpan();
  return (name, attributes) => void span?.updateName(name).setAttributes(attributes);
};
