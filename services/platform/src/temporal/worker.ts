/** Connects a process to Temporal and runs a worker. */
import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { hostname } from "node:os";
import { Client } from "@temporalio/client";
import {
  type DataConverter,
  DefaultLogger,
  type LogMetadata,
  NativeConnection,
  Runtime,
  TransportError,
  Worker,
  type WorkerOptions,
} from "@temporalio/worker";
import type { LibraryMetrics } from "../process/library-metrics";
import type { Logger } from "../telemetry/logger";
import { onceThere } from "../work/startup";
import type { TemporalServer } from "./client";
import { tracedActivities, tracedStarts } from "./tracing";
import { workerSize } from "./worker-size";

export interface TemporalOptions extends TemporalServer {
  taskQueue: string;
  /** Converter with the payload codecs. */
  dataConverter?: DataConverter;
  /** Resolves after Temporal has everything that the service needs. */
  prepared?: (connection: NativeConnection) => Promise<void>;
  logger: Logger;
  workflowBundle: { codePath: string };
  metrics?: LibraryMetrics | undefined;
  shutdownGraceMs: number;
  /** Size of the worker. By default it depends on the memory limit. */
  size?: ReturnType<typeof workerSize>;
}

const MAX_LOCAL_ACTIVITIES = 200;
const MAX_WORKFLOW_TASKS = 100;
/** Time within the grace period that is reserved for steps other than running calls. */
const SHUTDOWN_RESERVE_MS = 5_000;
const MIN_SHUTDOWN_GRACE_MS = 1_000;
/** Maximum delay of heartbeats. They reveal calls whose worker is lost, so they must not be delayed longer. */
const MAX_HEARTBEAT_THROTTLE_MS = 1_000;

const BUILD_CHARS = 12;
/** The worker's identity, which Temporal records with each failed task. */
const identityOf = (build: string): string => `nodeloom@${process.pid}@${hostname()}@${build}`;

const PAYLOAD_CONVERTER = require.resolve("./converter");

let runtimeInstalled = false;

const readable = ({ workflowId, activityType, attempt, durationMs, error }: LogMetadata = {}): Record<string, unknown> => ({
  workflowId,
  activityType,
  attempt,
  durationMs,
  reason: error instanceof Error ? error.message : undefined,
});

const METRICS_EVERY = "15s";

/** Options in the SDK's format. Metrics keep the names in Temporal's documentation. */
const metricsOptions = (to: LibraryMetrics) => ({
  attachServiceName: false,
  ...("listen" in to
    ? { prometheus: { bindAddress: to.listen, countersTotalSuffix: true, unitSuffix: true, useSecondsForDurations: true } }
    : { otel: { url: to.collector, metricsExportInterval: METRICS_EVERY, useSecondsForDurations: true } as const }),
});

/** Sends Temporal's own log lines and metrics to the process's logger and exporters. Called once per OS process. */
const installRuntime = (logger: Logger, metrics: LibraryMetrics | undefined): void => {
  if (runtimeInstalled) return;
  runtimeInstalled = true;
  Runtime.install({
    logger: new DefaultLogger("WARN", ({ level, message, meta }) => logger[level === "ERROR" ? "error" : "warn"](readable(meta), message)),
    shutdownSignals: [],
    ...(metrics ? { telemetryOptions: { metrics: metricsOptions(metrics) } } : {}),
  });
};

export type RunningTemporal = Awaited<ReturnType<typeof connectTemporal>>;

/** Starts a worker. @returns a function that stops it. Running work ends within the grace period or continues on another worker */
const startWorker = async (options: WorkerOptions, logger: Logger): Promise<() => Promise<void>> => {
  const worker = await Worker.create({
    ...options,
    interceptors: { activity: [tracedActivities] },
    maxConcurrentLocalActivityExecutions: MAX_LOCAL_ACTIVITIES,
    maxConcurrentWorkflowTaskExecutions: MAX_WORKFLOW_TASKS,
    maxHeartbeatThrottleInterval: MAX_HEARTBEAT_THROTTLE_MS,
    defaultHeartbeatThrottleInterval: MAX_HEARTBEAT_THROTTLE_MS,
  });
  const running = worker.run().catch((error: unknown) => {
    // Nothing runs without a worker, so the supervisor must restart this process.
    logger.fatal({ err: error }, "the Temporal worker failed");
    process.exit(1);
  });
  return async () => {
    if (worker.getState() === "RUNNING") worker.shutdown();
    await running;
  };
};

/** Client and worker share one native connection, so that a run's first task is executed where the run was started. */
export const connectTemporal = async (options: TemporalOptions) => {
  const { address, security, namespace, taskQueue, logger, workflowBundle, shutdownGraceMs, size = workerSize() } = options;
  const dataConverter: DataConverter = { payloadConverterPath: PAYLOAD_CONVERTER, ...options.dataConverter };
  installRuntime(logger, options.metrics);
  const isDisconnected = (error: unknown): boolean => error instanceof TransportError;
  const connection = await onceThere({ server: "Temporal", isUnavailable: isDisconnected, logger }, () =>
    NativeConnection.connect({ address, ...security }),
  );
  await options.prepared?.(connection);
  const client = new Client({ connection, namespace, dataConverter, interceptors: { workflow: [tracedStarts] } });
  const code = await readFile(workflowBundle.codePath);
  const build = createHash("sha256").update(code).digest("hex").slice(0, BUILD_CHARS);
  let stopWorker: (() => Promise<void>) | undefined;
  const drain = async (): Promise<void> => stopWorker?.();
  const close = (): Promise<void> => connection.close();
  return {
    client,
    /** Version of this process's workflow code. */
    build,
    work: async (activities: object): Promise<void> => {
      const shutdownGraceTime = Math.max(MIN_SHUTDOWN_GRACE_MS, shutdownGraceMs - SHUTDOWN_RESERVE_MS);
      const shutdown = { shutdownGraceTime, shutdownForceTime: shutdownGraceMs };
      const worker = {
        connection,
        namespace,
        taskQueue,
        dataConverter,
        workflowBundle,
        activities: { ...activities },
        ...shutdown,
        ...size,
      };
      stopWorker = await startWorker({ ...worker, identity: identityOf(build) }, logger);
    },
    drain,
    close,
    stop: async (): Promise<void> => {
      await drain();
      await close();
    },
  };
};
