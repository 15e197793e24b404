import { context, SpanStatusCode, trace, type Context, type Span, type SpanKind } from "@opentelemetry/api";

const tracer = trace.getTracer("nodeloom.grpc");

/** Starts the span of one call as a child of a context's, named as OpenTelemetry names calls. */
export const startSpan = (path: string, kind: SpanKind, parent: Context = context.active()): Span => {
  const [, service = "", method = ""] = path.split("/");
  const attributes = { "rpc.system": "grpc", "rpc.service": service, "rpc.method": method };
  return tracer.startSpan(`${service}/${method}`, { kind, attributes }, parent);
};

/** Runs something with a span as the active one. */
export const within = <T>(span: Span, run: () => T, parent: Context = context.active()): T =>
  context.with(trace.setSpan(parent, span), run);

/** Runs something as one span, which ends with it. */
export const inSpan = async <T>(path: string, kind: SpanKind, run: () => Promise<T>, parent: Context = context.active()): Promise<T> => {
  const span = startSpan(path, kind, parent);
  try {
    return await within(span, run, parent);
  } catch (error) {
    span.setStatus({ code: SpanStatusCode.ERROR });
    throw error;
  } finally {
    span.end();
  }
};
