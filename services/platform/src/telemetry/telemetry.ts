/** telemetry/: what a request carries with it, and what is traced, logged and measured of it. */
import type { IncomingMessage, ServerResponse } from "node:http";
import { setTimeout as delay } from "node:timers/promises";
import type { ProcessConfig } from "../config";
import { logTraceIds } from "./logger";
import { observeProcess } from "./metrics";

/** Longest time that the last spans and metrics may take to leave. */
const FLUSH_MS = 3_000;
const METRICS_EVERY_MS = 15_000;
const METRICS_TIMEOUT_MS = 10_000;

export interface Telemetry {
  /** Answers with the metrics as Prometheus reads them; 404 when nothing asks for them (no OPS_LISTEN). */
  writeMetrics(request: IncomingMessage, response: ServerResponse): void;
  /** Sends what is left and ends. */
  stop(): Promise<void>;
}

const NOTHING: Telemetry = { writeMetrics: (_request, response) => void response.writeHead(404).end(), stop: () => Promise.resolve() };

/** Starts tracing when a collector is configured, and metrics when a collector or Prometheus asks for them. */
export const startTelemetry = async (name: string, config: ProcessConfig): Promise<Telemetry> => {
  const collector = config.OTEL_EXPORTER_OTLP_ENDPOINT;
  if (collector === undefined && config.OPS_LISTEN === undefined) return NOTHING;
  const [{ NodeSDK, metrics }, { PrometheusExporter }] = await Promise.all([
    import("@opentelemetry/sdk-node"),
    import("@opentelemetry/exporter-prometheus"),
  ]);
  const prometheus =
    config.OPS_LISTEN === undefined ? undefined : new PrometheusExporter({ preventServerStart: true, withoutScopeInfo: true });
  const sdk = new NodeSDK({
    serviceName: name,
    ...(collector === undefined ? { spanProcessors: [] } : await sendTraces(collector)),
    metricReaders: [
      ...(prometheus ? [prometheus] : []),
      ...(collector === undefined ? [] : [new metrics.PeriodicExportingMetricReader(await sendMetrics(collector))]),
    ],
  });
  sdk.start();
  if (collector !== undefined) {
    // What was loaded before is instrumented when it is asked for again.
    require("node:http");
    const { trace } = await import("@opentelemetry/api");
    logTraceIds(() => trace.getActiveSpan()?.spanContext().traceId);
  }
  const stopObserving = observeProcess();
  return {
    writeMetrics: prometheus ? (request, response) => prometheus.getMetricsRequestHandler(request, response) : NOTHING.writeMetrics,
    stop: async () => {
      stopObserving();
      // A collector that is away must not hold the stop.
      await Promise.race([sdk.shutdown(), delay(FLUSH_MS, undefined, { ref: false })]);
    },
  };
};

/** Asked every few seconds, of interest to nobody. */
const PROBES = /^\/(healthz|livez|readyz|status|metrics)\b/;

const sendTraces = async (url: string) => {
  const [{ OTLPTraceExporter }, { HttpInstrumentation }] = await Promise.all([
    import("@opentelemetry/exporter-trace-otlp-grpc"),
    import("@opentelemetry/instrumentation-http"),
  ]);
  const http = new HttpInstrumentation({ ignoreIncomingRequestHook: ({ url: path }) => PROBES.test(path ?? "") });
  return { traceExporter: new OTLPTraceExporter({ url }), instrumentations: [http] };
};

const sendMetrics = async (url: string) => {
  const { OTLPMetricExporter } = await import("@opentelemetry/exporter-metrics-otlp-grpc");
  return { exporter: new OTLPMetricExporter({ url }), exportIntervalMillis: METRICS_EVERY_MS, exportTimeoutMillis: METRICS_TIMEOUT_MS };
};
