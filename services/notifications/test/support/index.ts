import { join } from "node:path";
import { createLogger } from "@nodeloom/platform";
import { connectTemporal, type RunningTemporal } from "@nodeloom/platform/temporal";
import type { Connection } from "mongoose";
import { openOwnStores } from "../../../../test-support/stores";
import { createStores } from "../../src/database";

export const logger = createLogger("test", "silent");

export type Stores = ReturnType<typeof createStores>;

export const openStores = (): Promise<{ stores: Stores; connection: Connection; stop: () => Promise<void> }> =>
  openOwnStores("notifications", createStores);

export const startWorker = async (taskQueue: string, activities: object): Promise<RunningTemporal> => {
  const temporal = await connectTemporal({
    address: process.env.TEMPORAL_ADDRESS!,
    namespace: "default",
    taskQueue,
    logger,
    workflowBundle: { codePath: join(__dirname, "..", "..", "dist", "workflow-bundle.js") },
    shutdownGraceMs: 2_000,
  });
  await temporal.work(activities);
  return temporal;
};
