import type { Attributes } from "@opentelemetry/api";
import type { TracePlace } from "./trace-place";

/**
 * Spans as plain records, which cost a fraction of the CPU of those that OpenTelemetry's tracer makes. Its sampler decides about
 * them, and its batches and its protocol take over where they have ended.
 */

export type SpanKind = "server" | "client" | "internal";

/** Something that this process was asked for: a request, an activity. Its spans leave together. */
export interface Work {
  /** Its first span. */
  readonly rootId: string;
  isOpen: boolean;
  readonly held: Span[];
}

export interface Span extends TracePlace {
  name: string;
  readonly kind: SpanKind;
  attributes: Attributes;
  /** The id of the span that it is part of, here or in another process. */
  readonly parentId: string | undefined;
  readonly isParentRemote: boolean;
  /** Another trace that this one came from. */
  readonly link: TracePlace | undefined;
  /** In milliseconds since the epoch. */
  readonly startedAt: number;
  /** By a clock that never jumps. */
  readonly startedTick: number;
  durationMs: number;
  hasFailed: boolean;
  readonly work: Work;
}

export interface SpanStart {
  readonly name: string;
  readonly kind?: SpanKind;
  readonly attributes?: Attributes;
  /** The span of this process that it is part of. */
  readonly within?: Span | undefined;
  /** The trace context that a calling process sent with its request: the parent of a span that is within none. */
  readonly told?: TracePlace | undefined;
  readonly link?: TracePlace | undefined;
}

/** Where spans go that have ended. */
export interface SpanRecorder {
  newTraceId(): string;
  newSpanId(): string;
  /** Whether a trace is of the share that is recorded. */
  isOfShare(traceId: string): boolean;
  /** Takes a span that has ended. */
  end(span: Span): void;
}

let recorder: SpanRecorder | undefined;

/** From when a process is traced; undefined when it is no more. Without a collector nothing is. */
export const recordSpans = (to: SpanRecorder | undefined): void => {
  recorder = to;
};

const NONE: Attributes = {};

const spanAt = (place: TracePlace, { name, kind = "internal", attributes = NONE, within, told, link }: SpanStart): Span => ({
  traceId: place.traceId,
  spanId: place.spanId,
  isSampled: place.isSampled,
  state: place.state,
  name,
  kind,
  attributes,
  // No more than its id: spans that led to spans would otherwise all be kept.
  parentId: (within ?? told)?.spanId,
  isParentRemote: within === undefined && told !== undefined,
  link: link && { traceId: link.traceId, spanId: link.spanId, isSampled: link.isSampled, state: link.state },
  startedAt: Date.now(),
  startedTick: performance.now(),
  durationMs: 0,
  hasFailed: false,
  work: within?.work ?? { rootId: place.spanId, isOpen: true, held: [] },
});

/** Starts a span; one of no trace begins a new one. @returns nothing where this process is not traced */
export const startSpan = (start: SpanStart): Span | undefined => {
  if (!recorder) return undefined;
  const { within, told } = start;
  // What is part of something that is not recorded isn't either.
  if (within && !within.isSampled) return within;
  const parent = within ?? told;
  const traceId = parent?.traceId ?? recorder.newTraceId();
  // The trace's id decides, in every process alike; that a caller traces everything is no reason to.
  const isSampled = within !== undefined || ((told?.isSampled ?? true) && recorder.isOfShare(traceId));
  return spanAt({ traceId, spanId: recorder.newSpanId(), isSampled, state: parent?.state }, start);
};

/** Starts a span whose id is known already, for it is one of several processes. @returns nothing where this one is not traced */
export const startSpanAt = (start: SpanStart & { readonly told: TracePlace }, spanId: string): Span | undefined =>
  recorder && spanAt({ ...start.told, spanId }, start);

/** Ends a span, once. */
export const endSpan = (span: Span, durationMs = performance.now() - span.startedTick): void => {
  if (!span.isSampled) return;
  span.durationMs = durationMs;
  recorder?.end(span);
};
