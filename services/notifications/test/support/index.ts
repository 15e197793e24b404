import { randomUUID } from "node:crypto";
import { join } from "node:path";
import type { OutgoingBudget } from "@nodeloom/kernel";
import {
  connectMongo,
  connectRedis,
  createLogger,
  createOutgoingBudget,
  createWindowCounter,
  makeCollections,
  redisReady,
  type TakeOutgoing,
} from "@nodeloom/platform";
import { connectTemporal, type RunningTemporal } from "@nodeloom/platform/temporal";
import type { Connection } from "mongoose";
import { createStores } from "../../src/database";

export const logger = createLogger("test", "silent");

export type Stores = ReturnType<typeof createStores>;

/** Stores in a database of their own. */
export const openStores = async (): Promise<{ stores: Stores; connection: Connection; stop: () => Promise<void> }> => {
  const connection = await connectMongo({ uri: process.env.MONGODB_URI!, database: `test_${randomUUID().slice(0, 8)}_notifications` });
  const stores = createStores(connection);
  await makeCollections(connection);
  return {
    stores,
    connection,
    stop: async () => {
      await connection.dropDatabase();
      await connection.close();
    },
  };
};

/** Budgets of outgoing calls over Redis, the same for every tier, with keys of their own. */
export const openOutgoing = async ({
  calls,
  webhooks,
  windowSeconds = 60,
}: { calls?: OutgoingBudget; webhooks?: OutgoingBudget; windowSeconds?: number } = {}): Promise<{
  outgoing: TakeOutgoing;
  stop: () => void;
}> => {
  const redis = connectRedis({ url: process.env.REDIS_URL!, logger });
  await redisReady(redis, 60_000);
  const ample = { perMinute: 10_000, perHostPerMinute: 10_000 };
  const budget = { calls: calls ?? ample, webhooks: webhooks ?? ample };
  const budgets = { free: budget, pro: budget, business: budget, enterprise: budget };
  const counter = createWindowCounter({ redis, keyPrefix: `test:${randomUUID()}:outgoing`, windowSeconds });
  return { outgoing: createOutgoingBudget({ counter, budgets, windowSeconds }), stop: () => redis.disconnect() };
};

/** Starts a worker of a queue. */
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
