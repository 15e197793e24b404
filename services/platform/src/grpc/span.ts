import { context, SpanStatusCode, trace, type Span, type SpanKind } from "@opentelemetry/api";

const tracer = trace.getTracer("nodeloom.grpc");

/** Starts the span of one call as a child of the active one, named as OpenTelemetry names calls. */
export const startSpan = (path: string, kind: SpanKind): Span => {
  const [, service = "", method = ""] = path.split("/");
  return tracer.startSpan(`${service}/${method}`, {
    kind,
    attributes: { "rpc.system": "grpc", "rpc.service": service, "rpc.method": method },
  });
};

/** Runs something with a span as the active one. */
export const within = <T>(span: Span, run: () => T): T => context.with(trace.setSpan(context.active(), span), run);

/** Runs something as one span, which ends with it. */
export const inSpan = async <T>(path: string, kind: SpanKind, run: () => Promise<T>): Promise<T> => {
  const span = startSpan(path, kind);
  try {
    return await within(span, run);
  } catch (error) {
    span.setStatus({ code: SpanStatusCode.ERROR });
    throw error;
  } finally {
    span.end();
  }
};
