import type { ProcessConfig } from "./config";

/** Starts tracing when a collector is configured. Returns how to flush and stop it. */
export const startTelemetry = async (name: string, config: ProcessConfig): Promise<() => Promise<void>> => {
  if (!config.OTEL_EXPORTER_OTLP_ENDPOINT) return () => Promise.resolve();
  const [{ NodeSDK }, { OTLPTraceExporter }, { HttpInstrumentation }] = await Promise.all([
    import("@opentelemetry/sdk-node"),
    import("@opentelemetry/exporter-trace-otlp-grpc"),
    import("@opentelemetry/instrumentation-http"),
  ]);
  const sdk = new NodeSDK({
    serviceName: name,
    traceExporter: new OTLPTraceExporter({ url: config.OTEL_EXPORTER_OTLP_ENDPOINT }),
    instrumentations: [new HttpInstrumentation()],
  });
  sdk.start();
  return () => sdk.shutdown();
};
