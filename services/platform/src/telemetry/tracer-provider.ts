import { propagation, trace } from "@opentelemetry/api";
import { W3CTraceContextPropagator } from "@opentelemetry/core";
import type { Resource } from "@opentelemetry/resources";
import {
  BatchSpanProcessor,
  ParentBasedSampler,
  TraceIdRatioBasedSampler,
  TracerProvider,
  type SpanExporter,
} from "@opentelemetry/sdk-trace";
import { wholeSpans } from "./whole-spans";

export interface TracingOptions {
  exporter: SpanExporter;
  resource: Resource;
  /** Of all traces, from 0 to 1. */
  share: number;
  everyMs: number;
}

/** Traces this process, and tells callees the trace as the W3C's Trace Context has it. `shutdown` sends what is left. */
export const startTracing = ({ exporter, resource, share, everyMs }: TracingOptions): TracerProvider => {
  const ofShare = new TraceIdRatioBasedSampler(share);
  const provider = new TracerProvider({
    resource,
    // The trace's id decides, in every process alike: a caller that asks for all of its requests gets no more than the share.
    sampler: new ParentBasedSampler({ root: ofShare, remoteParentSampled: ofShare }),
    spanProcessors: [wholeSpans(new BatchSpanProcessor({ exporter, scheduledDelayMillis: everyMs }))],
  });
  trace.setGlobalTracerProvider(provider);
  propagation.setGlobalPropagator(new W3CTraceContextPropagator());
  return provider;
};
