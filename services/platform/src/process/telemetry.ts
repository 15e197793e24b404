/** Starts the traces and metrics of a process. */
import type { IncomingMessage, ServerResponse } from "node:http";
import { metrics } from "@opentelemetry/api";
import type { PrometheusExporter } from "@opentelemetry/exporter-prometheus";
import type { Resource } from "@opentelemetry/resources";
import type { ProcessConfig } from "../config";
import { withTimeout } from "../work/timeout";
import { measureLibraries, readLibraryMetrics } from "./library-metrics";
import { observeProcess } from "../telemetry/metrics";

const FLUSH_MS = 3_000;
const METRICS_EVERY_MS = 15_000;
const METRICS_TIMEOUT_MS = 10_000;

export interface Telemetry {
  /** Writes the metrics in Prometheus format. Returns 404 if they are off (no OPS_LISTEN). */
  writeMetrics(request: IncomingMessage, response: ServerResponse): void | Promise<void>;
  stop(): Promise<void>;
}

interface Provider {
  shutdown(): Promise<void>;
}

const writeNothing: Telemetry["writeMetrics"] = (_request, response) => void response.writeHead(404).end();

/** Starts tracing if a collector is configured, and metrics if a collector or Prometheus needs them. */
export const startTelemetry = async (name: string, config: ProcessConfig): Promise<Telemetry> => {
  const { OTEL_EXPORTER_OTLP_ENDPOINT: collector, OPS_LISTEN } = config;
  if (collector === undefined && OPS_LISTEN === undefined) return { writeMetrics: writeNothing, stop: () => Promise.resolve() };
  const resource = await describeProcess(name);
  const prometheus = OPS_LISTEN === undefined ? undefined : await createPrometheus();
  // Prometheus scrapes the libraries' metrics together with the process's. Otherwise the libraries send them to the collector.
  measureLibraries(prometheus ? "scraped" : collector === undefined ? undefined : { collector });
  const providers: Provider[] = [await startMetrics(resource, collector, prometheus?.exporter)];
  if (collector !== undefined) providers.push(await sendTraces(resource, collector, config));
  const stopObserving = observeProcess();
  return {
    writeMetrics: prometheus?.write ?? writeNothing,
    stop: async () => {
      stopObserving();
      measureLibraries(undefined);
      // An unavailable collector must not delay the stop.
      await withTimeout(Promise.all(providers.map((provider) => provider.shutdown())), FLUSH_MS, () => undefined);
    },
  };
};

const describeProcess = async (name: string): Promise<Resource> => {
  const { defaultResource, detectResources, envDetector, hostDetector, processDetector, resourceFromAttributes } =
    await import("@opentelemetry/resources");
  const detected = detectResources({ detectors: [envDetector, processDetector, hostDetector] });
  return defaultResource()
    .merge(detected)
    .merge(resourceFromAttributes({ "service.name": name }));
};

const createPrometheus = async (): Promise<{ exporter: PrometheusExporter; write: Telemetry["writeMetrics"] }> => {
  const { PrometheusExporter, PrometheusSerializer } = await import("@opentelemetry/exporter-prometheus");
  const exporter = new PrometheusExporter({ preventServerStart: true });
  const serializer = new PrometheusSerializer(undefined, false, undefined, false, true);
  const write: Telemetry["writeMetrics"] = async (_request, response) => {
    const [{ resourceMetrics }, ofLibraries] = await Promise.all([exporter.collect(), readLibraryMetrics()]);
    response.writeHead(200, { "content-type": "text/plain; version=0.0.4; charset=utf-8" });
    response.end(serializer.serialize(resourceMetrics) + ofLibraries);
  };
  return { exporter, write };
};

const startMetrics = async (resource: Resource, collector: string | undefined, prometheus: PrometheusExporter | undefined) => {
  const { MeterProvider, PeriodicExportingMetricReader } = await import("@opentelemetry/sdk-metrics");
  const exportTo = async (url: string) => {
    const { OTLPMetricExporter } = await import("@opentelemetry/exporter-metrics-otlp-grpc");
    const exporter = new OTLPMetricExporter({ url });
    return new PeriodicExportingMetricReader({
      exporter,
      exportIntervalMillis: METRICS_EVERY_MS,
      exportTimeoutMillis: METRICS_TIMEOUT_MS,
    });
  };
  const readers = [...(prometheus ? [prometheus] : []), ...(collector === undefined ? [] : [await exportTo(collector)])];
  const provider = new MeterProvider({ resource, readers });
  metrics.setGlobalMeterProvider(provider);
  return provider;
};

const sendTraces = async (resource: Resource, url: string, { TRACES_SHARE: share, OTEL_BSP_SCHEDULE_DELAY: everyMs }: ProcessConfig) => {
  const { OTLPTraceExporter } = await import("@opentelemetry/exporter-trace-otlp-grpc");
  const { startTracing } = require("../telemetry/tracer-provider") as typeof import("../telemetry/tracer-provider");
  return startTracing({ exporter: new OTLPTraceExporter({ url }), resource, share, everyMs });
};
