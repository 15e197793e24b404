import { randomUUID } from "node:crypto";
import type { OutgoingBudget } from "@nodeloom/kernel";
import type { Connection } from "mongoose";
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

export const openOwnStores = async <Stores>(
  service: string,
  createStores: (connection: Connection) => Stores,
): Promise<{ stores: Stores; connection: Connection; stop: () => Promise<void> }> => {
  const connection = await connectMongo({ uri: process.env.MONGODB_URI!, database: `test_${randomUUID().slice(0, 8)}_${service}` });
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

export interface OutgoingBudgetOptions {
  calls?: OutgoingBudget;
  webhooks?: OutgoingBudget;
  windowSeconds?: number;
}

/**
 * Budgets of outgoing calls in Redis, equal for every tier, under unique keys.
 * @param url Redis, which can be unavailable
 */
export const openOutgoingBudget = async (
  { calls, webhooks, windowSeconds = 60 }: OutgoingBudgetOptions = {},
  keyPrefix = `test:${randomUUID()}:outgoing`,
  url?: string,
): Promise<{ take: TakeOutgoing; stop: () => void }> => {
  const redis = connectRedis({ url: url ?? process.env.REDIS_URL!, logger: createLogger("test", "silent") });
  if (url === undefined) await redisReady(redis, 60_000);
  const ample = { perMinute: 10_000, perHostPerMinute: 10_000 };
  const budget = { calls: calls ?? ample, webhooks: webhooks ?? ample };
  const budgets = { free: budget, pro: budget, business: budget, enterprise: budget };
  const counter = createWindowCounter({ redis, keyPrefix, windowSeconds });
  return { take: createOutgoingBudget({ counter, budgets, windowSeconds }), stop: () => redis.disconnect() };
};
