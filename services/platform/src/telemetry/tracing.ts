import type { Attributes } from "@opentelemetry/api";
import type { resources, tracing } from "@opentelemetry/sdk-node";

/** Where the spans of this process go, for those who make spans of their own. */
export interface SpanExport {
  processor: tracing.SpanProcessor;
  resource: resources.Resource;
}

let exporting: SpanExport | undefined;

/** From when a process is traced; undefined when it is no more. */
export const exportSpans = (to: SpanExport | undefined): void => {
  exporting = to;
};

/** Undefined without a collector: nothing is traced then. */
export const spanExport = (): SpanExport | undefined => exporting;

/** Loaded when something is traced. */
const api = (): typeof import("@opentelemetry/api") => require("@opentelemetry/api") as typeof import("@opentelemetry/api");

const TRACER = "nodeloom";

/**
 * Runs a request to somebody else's server as a span.
 * @param run is given the headers that tell the callee the trace; they are its to send, or not
 */
export const inClientSpan = async <T>(
  name: string,
  attributes: Attributes,
  run: (traceHeaders: Record<string, string>) => Promise<T>,
): Promise<T> => {
  if (!exporting) return run({});
  const { context, propagation, SpanKind, SpanStatusCode, trace } = api();
  const span = trace.getTracer(TRACER).startSpan(name, { kind: SpanKind.CLIENT, attributes });
  const own = trace.setSpan(context.active(), span);
  const traceHeaders: Record<string, string> = {};
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
