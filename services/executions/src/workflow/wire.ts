import { join } from "node:path";
import { libraryMetrics, temporalSecurity, workerSize, type Logger, type TemporalSecurityConfig } from "@nodeloom/platform";
import { connectTemporal, createEncryptionCodec } from "@nodeloom/platform/temporal";
import type { Stores } from "../record/stores";
import { createBundleStarter } from "./bundle-client";
import { createClaimCheckCodec } from "./claim-check";
import { createBatchStarter, createRunStarter } from "./client";
import { createFailingTasks } from "./failing-tasks";
import { createLeaver } from "./leaving";
import { untilPrepared } from "./prepare";

const WORKFLOW_BUNDLE = join(__dirname, "..", "..", "dist", "workflow-bundle.js");

export interface WorkflowConfig extends TemporalSecurityConfig {
  TEMPORAL_ADDRESS: string;
  TEMPORAL_NAMESPACE: string;
  TEMPORAL_TASK_QUEUE: string;
  TEMPORAL_PAYLOAD_KEYS: Parameters<typeof createEncryptionCodec>[0];
  SHUTDOWN_GRACE_MS: number;
  WORKER_CACHED_WORKFLOWS?: number | undefined;
  WORKER_ACTIVITIES?: number | undefined;
}

export interface WorkflowFloorOptions {
  config: WorkflowConfig;
  stores: Pick<Stores, "payloads">;
  logger: Logger;
}

/** Connects to Temporal, and waits until it is prepared. The worker starts with `temporal.work`. */
export const wireWorkflow = async ({ config, stores, logger }: WorkflowFloorOptions) => {
  const { TEMPORAL_NAMESPACE: namespace, TEMPORAL_TASK_QUEUE: taskQueue } = config;
  const temporal = await connectTemporal({
    address: config.TEMPORAL_ADDRESS,
    security: temporalSecurity(config),
    namespace,
    taskQueue,
    // Encrypted large payloads are stored first, and Temporal gets only a reference.
    dataConverter: { payloadCodecs: [createClaimCheckCodec(stores.payloads), createEncryptionCodec(config.TEMPORAL_PAYLOAD_KEYS)] },
    logger,
    workflowBundle: { codePath: WORKFLOW_BUNDLE },
    prepared: (native) => untilPrepared(native, namespace, logger),
    metrics: await libraryMetrics(),
    shutdownGraceMs: config.SHUTDOWN_GRACE_MS,
    size: workerSize(config),
  });
  const queue = { client: temporal.client, taskQueue };
  return {
    temporal,
    starter: createRunStarter(queue),
    batchStarter: createBatchStarter(queue),
    bundleStarter: createBundleStarter(queue),
    leaver: createLeaver({ ...queue, namespace }),
    tasks: createFailingTasks({ ...queue, build: temporal.build }),
  };
};
