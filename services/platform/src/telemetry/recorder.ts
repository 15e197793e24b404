import { createTraceState, ROOT_CONTEXT, SpanKind, SpanStatusCode, TraceFlags, type HrTime, type SpanContext } from "@opentelemetry/api";
import { tracing, type resources } from "@opentelemetry/sdk-node";
import type { Span, SpanRecorder } from "./span";
import type { TracePlace } from "./trace-place";
import { wholeSpans } from "./whole-spans";

type Exported = Parameters<tracing.SpanProcessor["onEnd"]>[0];

const MS = 1_000;
const NS_OF_MS = 1_000_000;
/** Milliseconds as OpenTelemetry has them: seconds and nanoseconds. */
const hrTime = (ms: number): HrTime => [Math.floor(ms / MS), Math.floor((ms % MS) * NS_OF_MS)];

const KINDS = { server: SpanKind.SERVER, client: SpanKind.CLIENT, internal: SpanKind.INTERNAL } as const;
const SCOPE = { name: "nodeloom" };
const NONE: never[] = [];
const UNSET = { code: SpanStatusCode.UNSET };
const FAILED = { code: SpanStatusCode.ERROR };

/** Of the trace of a place, the span of an id. */
const contextOf = ({ traceId, isSampled, state }: TracePlace, spanId: string, isRemote = false): SpanContext => ({
  traceId,
  spanId,
  traceFlags: isSampled ? TraceFlags.SAMPLED : TraceFlags.NONE,
  isRemote,
  traceState: state === undefined ? undefined : createTraceState(state),
});

/** A span as OpenTelemetry's exporters take it. */
const toExported = (span: Span, resource: resources.Resource): Exported => {
  const own = contextOf(span, span.spanId);
  return {
    name: span.name,
    kind: KINDS[span.kind],
    spanContext: () => own,
    parentSpanContext: span.parentId === undefined ? undefined : contextOf(span, span.parentId, span.isParentRemote),
    startTime: hrTime(span.startedAt),
    endTime: hrTime(span.startedAt + span.durationMs),
    duration: hrTime(span.durationMs),
    ended: true,
    status: span.hasFailed ? FAILED : UNSET,
    attributes: span.attributes,
    links: span.link ? [{ context: contextOf(span.link, span.link.spanId) }] : NONE,
    events: NONE,
    resource,
    instrumentationScope: SCOPE,
    droppedAttributesCount: 0,
    droppedEventsCount: 0,
    droppedLinksCount: 0,
  };
};

export interface RecorderOptions {
  exporter: tracing.SpanExporter;
  resource: resources.Resource;
  /** Of all traces, from 0 to 1. */
  share: number;
}

/** Sends what has ended in batches. `stop` sends what is left. */
export const createRecorder = ({ exporter, resource, share }: RecorderOptions): SpanRecorder & { stop(): Promise<void> } => {
  // As often as OTEL_BSP_SCHEDULE_DELAY says, every five seconds by default: sending costs more than the spans of a quiet second.
  const batches = new tracing.BatchSpanProcessor(exporter);
  const ids = new tracing.RandomIdGenerator();
  const sampler = new tracing.TraceIdRatioBasedSampler(share);
  const whole = wholeSpans((span) => batches.onEnd(toExported(span, resource)));
  return {
    newTraceId: () => ids.generateTraceId(),
    newSpanId: () => ids.generateSpanId(),
    isOfShare: (traceId) => sampler.shouldSample(ROOT_CONTEXT, traceId).decision === tracing.SamplingDecision.RECORD_AND_SAMPLED,
    end: whole.end,
    stop: () => {
      whole.letAllGo();
      return batches.shutdown();
    },
  };
};
