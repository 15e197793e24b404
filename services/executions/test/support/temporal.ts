import { createLogger } from "@nodeloom/platform";
import type { Activities, LocalActivities } from "../../src/carry/activity-types";
import { bundlePath } from "../../src/carry/bundle";
import { connectTemporal, type RunningTemporal, type TemporalOptions } from "../../src/carry/worker";

/** Connects to the Temporal server of the tests. No worker runs yet. */
export const connectToTemporal = (taskQueue: string, more: Partial<TemporalOptions> = {}): Promise<RunningTemporal> =>
  connectTemporal({
    address: process.env.TEMPORAL_ADDRESS!,
    namespace: "default",
    taskQueue,
    dataConverter: {},
    logger: createLogger("test", "silent"),
    workflowBundle: { codePath: bundlePath },
    shutdownGraceMs: 2_000,
    ...more,
  });

/** Starts a worker of a queue. Activities that its runs don't call may be missing. */
export const startWorker = async (taskQueue: string, activities: object, more?: Partial<TemporalOptions>): Promise<RunningTemporal> => {
  const temporal = await connectToTemporal(taskQueue, more);
  await temporal.work(activities as Activities & LocalActivities);
  return temporal;
};
