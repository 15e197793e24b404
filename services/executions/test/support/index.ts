import { randomUUID } from "node:crypto";
import type { OutgoingBudget } from "@nodeloom/kernel";
import { connectMongo, connectRedis, createLogger, createWindowCounter, makeCollections, redisReady } from "@nodeloom/platform";
import { createOutgoing, type Outgoing } from "../../src/calls/outgoing";
import type { Connection } from "mongoose";
import type { RunEnd } from "../../src/run/types";
import { type Execution } from "../../src/lifecycle/execution";
import { FREE } from "../../src/run/new-record";
import type { DecidedRun } from "../../src/lifecycle/end-writes";
import type { ExecutionRecord } from "../../src/run/record";
import { createReads, type Reads } from "../../src/requests/reads";
import { createStores, type Stores, type StoresOptions } from "../../src/store/stores";

/** A store in a database of its own. */
export const openStore = async (
  options: StoresOptions = {},
): Promise<{ stores: Stores; connection: Connection; stop: () => Promise<void> }> => {
  const connection = await connectMongo({ uri: process.env.MONGODB_URI!, database: `test_${randomUUID().slice(0, 8)}_executions` });
  const stores = createStores(connection, options);
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

/** An execution under way, with one node. */
export const newRecord = (userId: string = randomUUID(), part: Partial<ExecutionRecord> = {}): ExecutionRecord => ({
  _id: randomUUID(),
  userId,
  workflowSlug: null,
  modelIds: [],
  source: "api-slim",
  keyId: null,
  holdId: "hold",
  markupPermille: 1_500,
  mode: "async",
  status: "processing",
  ending: null,
  requestId: null,
  resultJson: null,
  error: null,
  webhook: null,
  nodes: [
    {
      id: "pic",
      type: "generate-image",
      status: "pending",
      startedAt: null,
      durationMs: null,
      millicredits: 0,
      error: null,
      requestId: null,
      warnings: [],
      cancelReport: null,
      items: 10,
      itemsDone: 0,
    },
  ],
  events: [{ key: "admitted", type: "admitted", at: new Date(), data: {} }],
  due: [],
  attempt: 1,
  baseTier: "pro",
  millicredits: 0,
  grantUsed: false,
  createdAt: new Date(),
  finishedAt: null,
  durationMs: null,
  seenRunningAt: new Date(),
  ...part,
});

/** Budgets of outgoing calls over Redis, the same for every tier, with keys of their own. */
export const openOutgoing = async (
  { calls, webhooks, windowSeconds = 60 }: { calls?: OutgoingBudget; webhooks?: OutgoingBudget; windowSeconds?: number } = {},
  keyPrefix = `test:${randomUUID()}:outgoing`,
  url?: string,
): Promise<{ outgoing: Outgoing; stop: () => void }> => {
  const redis = connectRedis({ url: url ?? process.env.REDIS_URL!, logger: createLogger("test", "silent") });
  if (url === undefined) await redisReady(redis, 60_000);
  const ample = { perMinute: 10_000, perHostPerMinute: 10_000 };
  const budget = { calls: calls ?? ample, webhooks: webhooks ?? ample };
  const budgets = { free: budget, pro: budget, business: budget, enterprise: budget };
  return {
    outgoing: createOutgoing({ counter: createWindowCounter({ redis, keyPrefix, windowSeconds }), budgets, windowSeconds }),
    stop: () => redis.disconnect(),
  };
};

/** Where nothing is owed to readers. */
export const NO_DEBTS = { payForReader: (): Promise<void> => Promise.resolve() };
/** Executions of a store as their owners read them. */
export const readsOf = (stores: Stores): Reads => createReads(stores, NO_DEBTS);

/** Makes a run final whose ending is decided first. @returns whether this made it so */
export const finishDecided = async (execution: Execution, run: Omit<DecidedRun, "decided">, end: RunEnd): Promise<boolean> => {
  const decided = await execution.decideEnding(run.executionId, end.status);
  return execution.finish({ ...run, decided }, end, FREE, [], () => Promise.resolve());
};
