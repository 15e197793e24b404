import { setTimeout as delay } from "node:timers/promises";
import type { ProcessConfig } from "./config";

/** Longest time that the last spans and metrics may take to leave. */
const FLUSH_MS = 3_000;
const METRICS_EVERY_MS = 15_000;
const METRICS_TIMEOUT_MS = 10_000;

/** Starts tracing and metrics when a collector is configured. Returns how to flush and stop it. */
export const startTelemetry = async (name: string, config: ProcessConfig): Promise<() => Promise<void>> => {
  if (!config.OTEL_EXPORTER_OTLP_ENDPOINT) return () => Promise.resolve();
  const [{ NodeSDK, metrics }, { OTLPTraceExporter }, { OTLPMetricExporter }, { HttpInstrumentation }] = await Promise.all([
    import("@opentelemetry/sdk-node"),
    import("@opentelemetry/exporter-trace-otlp-grpc"),
    import("@opentelemetry/exporter-metrics-otlp-grpc"),
    import("@opentelemetry/instrumentation-http"),
  ]);
  const sdk = new NodeSDK({
    serviceName: name,
    traceExporter: new OTLPTraceExporter({ url: config.OTEL_EXPORTER_OTLP_ENDPOINT }),
    metricReaders: [
      new metrics.PeriodicExportingMetricReader({
        exporter: new OTLPMetricExporter({ url: config.OTEL_EXPORTER_OTLP_ENDPOINT }),
        exportIntervalMillis: METRICS_EVERY_MS,
        exportTimeoutMillis: METRICS_TIMEOUT_MS,
      }),
    ],
    instrumentations: [new HttpInstrumentation()],
  });
  sdk.start();
  // A collector that is away must not hold the stop.
  return () => Promise.race([sdk.shutdown(), delay(FLUSH_MS, undefined, { ref: false })]);
};
