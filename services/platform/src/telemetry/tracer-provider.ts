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
  /** Share of traces that are recorded, from 0 to 1. */
  share: number;
  everyMs: number;
}

/** Traces this process and propagates the trace as W3C Trace Context. `shutdown` sends the remaining spans. */
export const startTracing = ({ exporter, resource, share, everyMs }: TracingOptions): TracerProvider => {
  const ofShare = new TraceIdRatioBasedSampler(share);
  const provider = new TracerProvider({
    resource,
    // The trace id decides, with the same result in every process. A caller that requests all its traces gets no more than the share.
    sampler: new ParentBasedSampler({ root: ofShare, remoteParentSampled: ofShare }),
    spanProcessors: [wholeSpans(new BatchSpanProcessor({ exporter, scheduledDelayMillis: everyMs }))],
  });
  trace.setGlobalTracerProvider(provider);
  propagation.setGlobalPropagator(new W3CTraceContextPropagator());
  return provider;
};
