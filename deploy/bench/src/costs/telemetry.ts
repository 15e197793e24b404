import { createServer, type ServerHttp2Session } from "node:http2";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { compareCosts, cpuMetric } from "./costs";
import type { Metric } from "../metrics";
import { launch, ROOT } from "../platform";
import type { Extent } from "../scenarios";

/** Maximum CPU of a run with telemetry, relative to one without. */
const AT_MOST = 1.1;
/** An empty gRPC message: only its head. */
const EMPTY = Buffer.alloc(5);

/** An OpenTelemetry collector that discards everything. */
const startCollector = async (): Promise<{ url: string; stop: () => void }> => {
  const server = createServer();
  const sessions = new Set<ServerHttp2Session>();
  server.on("session", (session) => {
    sessions.add(session);
    session.once("close", () => sessions.delete(session)).on("error", () => session.destroy());
  });
  server.on("stream", (stream) => {
    stream.on("error", () => stream.destroy());
    stream.resume().once("end", () => {
      stream.respond({ ":status": 200, "content-type": "application/grpc" }, { waitForTrailers: true });
      stream.once("wantTrailers", () => stream.sendTrailers({ "grpc-status": "0" }));
      stream.end(EMPTY);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const stop = (): void => {
    server.close();
    for (const session of sessions) session.destroy();
  };
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, stop };
};

/**
 * Measures a run's cost with and without a collector that receives traces and metrics of all processes.
 * @throws Error if a platform already runs in this checkout
 */
export const measureTelemetry = async (extent: Extent, signal: AbortSignal, note: (text: string) => void): Promise<Metric[]> => {
  const collector = await startCollector();
  try {
    note("starting this checkout twice, once with a collector");
    const start = (name: string, own: NodeJS.ProcessEnv) => (environment: NodeJS.ProcessEnv) =>
      launch(ROOT, signal, { ...environment, ...own, NODELOOM_STATE_DIR: join(".nodeloom", "bench", name) });
    const costs = await compareCosts({
      names: { ours: "with", bare: "without" },
      launch: { ours: start("observed", { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url }), bare: start("unobserved", {}) },
      ...{ extent, signal, note },
    });
    return costs.map((cost) => cpuMetric(cost, "telemetry", AT_MOST));
  } finally {
    collector.stop();
  }
};
