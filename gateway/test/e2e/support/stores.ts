import { gunzipSync } from "node:zlib";
import { connectMongo, connectRedis, createLogger, redisReady } from "@nodeloom/platform";
import { Client, Connection } from "@temporalio/client";
import { temporal } from "@temporalio/proto";
import { mongo, type Connection as MongoConnection } from "mongoose";
import { SERVICES } from "../../../../deploy/services.cjs";
import type { Platform } from "../../../../test-support/platform";

/** All data that a platform has stored, as bytes: documents, histories, keys. */
export type StoredBytes = Record<"MongoDB" | "Temporal" | "Redis", Buffer[]>;

const DATABASES = SERVICES.filter(({ database }) => database).map(({ name }) => name);
const GZIP = Buffer.from([0x1f, 0x8b]);

/** Bytes, and their content before compression. */
const withUnpacked = (bytes: Buffer): Buffer[] => {
  const at = bytes.indexOf(GZIP);
  if (at < 0) return [bytes];
  try {
    return [bytes, gunzipSync(bytes.subarray(at))];
  } catch {
    return [bytes];
  }
};

const bytesIn = (value: unknown): Buffer[] => {
  if (value instanceof mongo.Binary) return withUnpacked(Buffer.from(value.buffer));
  if (Array.isArray(value)) return value.flatMap(bytesIn);
  return typeof value === "object" && value !== null ? Object.values(value).flatMap(bytesIn) : [];
};

const documentsOf = async (connection: MongoConnection): Promise<Buffer[]> => {
  const collections = await connection.db!.collections();
  const documents = await Promise.all(collections.map((collection) => collection.find().toArray()));
  return documents.flat().flatMap((document) => [Buffer.from(mongo.BSON.serialize(document)), ...bytesIn(document)]);
};

const readMongo = async ({ MONGODB_URI = "", MONGODB_DATABASE_PREFIX = "" }: Platform["env"]): Promise<Buffer[]> => {
  const reads = DATABASES.map(async (name) => {
    const connection = await connectMongo({ uri: MONGODB_URI, database: `${MONGODB_DATABASE_PREFIX}${name}` });
    try {
      return await documentsOf(connection);
    } finally {
      await connection.close();
    }
  });
  return (await Promise.all(reads)).flat();
};

const readTemporal = async ({ TEMPORAL_ADDRESS = "" }: Platform["env"], workflowIds: readonly string[]): Promise<Buffer[]> => {
  const connection = await Connection.connect({ address: TEMPORAL_ADDRESS });
  try {
    const { workflow } = new Client({ connection });
    const histories = await Promise.all(workflowIds.map((id) => workflow.getHandle(id).fetchHistory()));
    return histories.map((history) => Buffer.from(temporal.api.history.v1.History.encode(history).finish()));
  } finally {
    await connection.close();
  }
};

const readRedis = async ({ REDIS_URL = "", REDIS_KEY_PREFIX = "" }: Platform["env"]): Promise<Buffer[]> => {
  const redis = connectRedis({ url: REDIS_URL, logger: createLogger("test", "silent") });
  try {
    await redisReady(redis);
    const keys = await redis.keys(`${REDIS_KEY_PREFIX}*`);
    const valueOf = async (key: string): Promise<unknown> => {
      const type = await redis.type(key);
      if (type === "string") return redis.get(key);
      if (type === "hash") return redis.hgetall(key);
      if (type === "list") return redis.lrange(key, 0, -1);
      if (type === "zset") return redis.zrange(key, "0", "-1");
      return type === "stream" ? redis.xrange(key, "-", "+") : redis.smembers(key).catch(() => []);
    };
    return await Promise.all(keys.map(async (key) => Buffer.from(JSON.stringify([key, await valueOf(key)]))));
  } finally {
    redis.disconnect();
  }
};

/** @param executionIds runs whose histories are read */
export const readStores = async ({ env }: Platform, executionIds: readonly string[]): Promise<StoredBytes> => {
  const [MongoDB, Temporal, Redis] = await Promise.all([readMongo(env), readTemporal(env, executionIds), readRedis(env)]);
  return { MongoDB, Temporal, Redis };
};
