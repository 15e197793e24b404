/** telemetry/: what a request carries with it, and what is traced, logged and measured of it. */
import type { IncomingMessage, ServerResponse } from "node:http";
import { setTimeout as delay } from "node:timers/promises";
import type { ProcessConfig } from "../config";
import { measureLibraries, readLibraryMetrics } from "./library-metrics";
import { logTraceIds } from "./logger";
import { observeProcess } from "./metrics";
import { exportSpans } from "./tracing";
import { wholeSpans } from "./whole-spans";

/** Longest time that the last spans and metrics may take to leave. */
const FLUSH_MS = 3_000;
const METRICS_EVERY_MS = 15_000;
const METRICS_TIMEOUT_MS = 10_000;

export interface Telemetry {
  /** Answers with the metrics as Prometheus reads them; 404 when nothing asks for them (no OPS_LISTEN). */
  writeMetrics(request: IncomingMessage, response: ServerResponse): void | Promise<void>;
  /** Sends what is left and ends. */
  stop(): Promise<void>;
}

const NOTHING: Telemetry = { writeMetrics: (_request, response) => void response.writeHead(404).end(), stop: () => Promise.resolve() };

/** Starts tracing when a collector is configured, and metrics when a collector or Prometheus asks for them. */
export const startTelemetry = async (name: string, config: ProcessConfig): Promise<Telemetry> => {
  const collector = config.OTEL_EXPORTER_OTLP_ENDPOINT;
  if (collector === undefined && config.OPS_LISTEN === undefined) return NOTHING;
  const [{ core, NodeSDK, metrics }, { PrometheusExporter, PrometheusSerializer }] = await Promise.all([
    import("@opentelemetry/sdk-node"),
    import("@opentelemetry/exporter-prometheus"),
  ]);
  const prometheus = config.OPS_LISTEN === undefined ? undefined : new PrometheusExporter({ preventServerStart: true });
  // Who is asked for metrics tells those of libraries too; otherwise they send them themselves.
  measureLibraries(prometheus ? "scraped" : collector === undefined ? undefined : { collector });
  const sdk = new NodeSDK({
    serviceName: name,
    // Nothing else of what a caller says of its trace goes on: no baggage.
    textMapPropagator: new core.W3CTraceContextPropagator(),
    ...(collector === undefined ? { spanProcessors: [] } : await sendTraces(name, collector, config.TRACES_SHARE)),
    metricReaders: [
      ...(prometheus ? [prometheus] : []),
      ...(collector === undefined ? [] : [new metrics.PeriodicExportingMetricReader(await sendMetrics(collector))]),
    ],
  });
  sdk.start();
  if (collector !== undefined) {
    const { trace } = await import("@opentelemetry/api");
    logTraceIds(() => trace.getActiveSpan()?.spanContext().traceId);
  }
  const stopObserving = observeProcess();
  const writer = (exporter: NonNullable<typeof prometheus>): Telemetry["writeMetrics"] => {
    const serializer = new PrometheusSerializer(undefined, false, undefined, false, true);
    return async (_request, response) => {
      const [{ resourceMetrics }, ofLibraries] = await Promise.all([exporter.collect(), readLibraryMetrics()]);
      response.writeHead(200, { "content-type": "text/plain; version=0.0.4; charset=utf-8" });
      response.end(serializer.serialize(resourceMetrics) + ofLibraries);
    };
  };
  return {
    writeMetrics: prometheus ? writer(prometheus) : NOTHING.writeMetrics,
    stop: async () => {
      stopObserving();
      exportSpans(undefined);
      measureLibraries(undefined);
      // A collector that is away must not hold the stop.
      await Promise.race([sdk.shutdown(), delay(FLUSH_MS, undefined, { ref: false })]);
    },
  };
};

const sendTraces = async (name: string, url: string, share: number) => {
  const [{ OTLPTraceExporter }, { tracing, resources }] = await Promise.all([
    import("@opentelemetry/exporter-trace-otlp-grpc"),
    import("@opentelemetry/sdk-node"),
  ]);
  // As often as OTEL_BSP_SCHEDULE_DELAY says, every five seconds by default: sending costs more than the spans of a quiet second.
  const batches = new tracing.BatchSpanProcessor(new OTLPTraceExporter({ url }));
  const processor = wholeSpans(batches);
  exportSpans({ processor, resource: resources.resourceFromAttributes({ "service.name": name }) });
  // The trace's id decides, in every process alike; that a caller traces everything is no reason to.
  const ofShare = new tracing.TraceIdRatioBasedSampler(share);
  return { spanProcessors: [processor], sampler: new tracing.ParentBasedSampler({ root: ofShare, remoteParentSampled: ofShare }) };
};

const sendMetrics = async (url: string) => {
  const { OTLPMetricExporter } = await import("@opentelemetry/exporter-metrics-otlp-grpc");
  return { exporter: new OTLPMetricExporter({ url }), exportIntervalMillis: METRICS_EVERY_MS, exportTimeoutMillis: METRICS_TIMEOUT_MS };
};
