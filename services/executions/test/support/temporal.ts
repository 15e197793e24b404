import { join } from "node:path";
import { createLogger } from "@nodeloom/platform";
import { connectTemporal, type RunningTemporal, type TemporalOptions } from "@nodeloom/platform/temporal";

export const bundlePath = join(__dirname, "..", "..", "dist", "workflow-bundle.js");

/** Connects to the tests' Temporal server, without a worker. */
export const connectToTemporal = (taskQueue: string, more: Partial<TemporalOptions> = {}): Promise<RunningTemporal> =>
  connectTemporal({
    address: process.env.TEMPORAL_ADDRESS!,
    namespace: "default",
    taskQueue,
    logger: createLogger("test", "silent"),
    workflowBundle: { codePath: bundlePath },
    shutdownGraceMs: 2_000,
    ...more,
  });

/** Starts a worker. Activities that its runs don't call can be omitted. */
export const startWorker = async (taskQueue: string, activities: object, more?: Partial<TemporalOptions>): Promise<RunningTemporal> => {
  const temporal = await connectToTemporal(taskQueue, more);
  await temporal.work(activities);
  return temporal;
};
