/** telemetry/: what a request carries with it, and what is traced, logged and measured of it. */
import type { IncomingMessage, ServerResponse } from "node:http";
import type { resources } from "@opentelemetry/sdk-node";
import type { ProcessConfig } from "../config";
import { withTimeout } from "../work/timeout";
import { measureLibraries, readLibraryMetrics } from "./library-metrics";
import { observeProcess } from "./metrics";
import { recordSpans } from "./span";

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
  const [{ api, metrics, resources }, { PrometheusExporter, PrometheusSerializer }] = await Promise.all([
    import("@opentelemetry/sdk-node"),
    import("@opentelemetry/exporter-prometheus"),
  ]);
  const prometheus = config.OPS_LISTEN === undefined ? undefined : new PrometheusExporter({ preventServerStart: true });
  // Who is asked for metrics tells those of libraries too; otherwise they send them themselves.
  measureLibraries(prometheus ? "scraped" : collector === undefined ? undefined : { collector });
  const found = resources.detectResources({ detectors: [resources.envDetector, resources.processDetector, resources.hostDetector] });
  const resource = resources
    .defaultResource()
    .merge(found)
    .merge(resources.resourceFromAttributes({ "service.name": name }));
  const meters = new metrics.MeterProvider({
    resource,
    readers: [
      ...(prometheus ? [prometheus] : []),
      ...(collector === undefined ? [] : [new metrics.PeriodicExportingMetricReader(await sendMetrics(collector))]),
    ],
  });
  api.metrics.setGlobalMeterProvider(meters);
  const recorder = collector === undefined ? undefined : await sendTraces(collector, resource, config.TRACES_SHARE);
  recordSpans(recorder);
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
      recordSpans(undefined);
      measureLibraries(undefined);
      // A collector that is away must not hold the stop.
      await withTimeout(Promise.all([recorder?.stop(), meters.shutdown()]), FLUSH_MS, () => undefined);
    },
  };
};

const sendTraces = async (url: string, resource: resources.Resource, share: number) => {
  const { OTLPTraceExporter } = await import("@opentelemetry/exporter-trace-otlp-grpc");
  const { createRecorder } = require("./recorder") as typeof import("./recorder");
  return createRecorder({ exporter: new OTLPTraceExporter({ url }), resource, share });
};

const sendMetrics = async (url: string) => {
  const { OTLPMetricExporter } = await import("@opentelemetry/exporter-metrics-otlp-grpc");
  return { exporter: new OTLPMetricExporter({ url }), exportIntervalMillis: METRICS_EVERY_MS, exportTimeoutMillis: METRICS_TIMEOUT_MS };
};
