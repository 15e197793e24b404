import { randomUUID } from "node:crypto";
import type { OutgoingBudget } from "@nodeloom/kernel";
import {
  connectMongo,
  connectRedis,
  createLogger,
  createOutgoingBudget,
  createWindowCounter,
  makeCollections,
  redisReady,
} from "@nodeloom/platform";
import { createOutgoing, type Outgoing } from "../../src/calls/outgoing";
import type { Connection } from "mongoose";
import { createEnd, type End } from "../../src/lifecycle/end";
import type { RunEnd, RunInput } from "../../src/run/types";
import type { Execution } from "../../src/lifecycle/execution";
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
  outbox: [],
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
    outgoing: createOutgoing(
      createOutgoingBudget({ counter: createWindowCounter({ redis, keyPrefix, windowSeconds }), budgets, windowSeconds }),
    ),
    stop: () => redis.disconnect(),
  };
};

/** Where every end is delivered before it is told. */
export const DELIVERED = (): Promise<void> => Promise.resolve();
/** Executions of a store as their owners read them. */
export const readsOf = (stores: Stores): Reads => createReads(stores, DELIVERED);

/** Ends runs that hold nothing, with nothing to deliver. */
export const endsOf = (stores: Stores, execution: Execution): End => {
  const billing = { settle: () => Promise.reject(new Error("the run holds nothing")) };
  const outbox = { deliverFirst: <Row>(row: Row): Promise<Row> => Promise.resolve(row) };
  return createEnd({ billing, execution, stores, outbox });
};

/** Ends such a run as its workflow does. @returns whether that made it final */
export const endFree = async (stores: Stores, execution: Execution, input: RunInput, seen: RunEnd): Promise<boolean> => {
  const row = await endsOf(stores, execution).end({ from: "workflow", input: { ...input, held: [] } }, seen);
  return row?.status === seen.status;
};
