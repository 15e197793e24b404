import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { gunzipSync } from "node:zlib";
import { EXECUTIONS_DIR, LOG_DIR, MEDIA_DIR } from "../../local/paths.mjs";
import { filesIn } from "./files.mjs";
import { readLocal } from "./platform.mjs";

/** Reads all data in the databases and passes it to a search. */

const bench = createRequire(new URL("../../bench/package.json", import.meta.url));
const platform = createRequire(new URL("../../../services/platform/package.json", import.meta.url));
const { Client, Connection } = bench("@temporalio/client");
const { temporal } = bench("@temporalio/proto");
const { mongo } = platform("mongoose");
const { Redis } = platform("ioredis");
const GZIP = Buffer.from([0x1f, 0x8b]);
const NOT_FOUND = 5;

/** @typedef {(place: string, content: Uint8Array | string) => void} Look */

/** Content as stored, and decompressed. @param {Uint8Array | string} content @returns {Buffer[]} */
export const readings = (content) => {
  const whole = Buffer.from(content);
  const at = whole.indexOf(GZIP);
  if (at < 0) return [whole];
  try {
    return [whole, gunzipSync(whole.subarray(at))];
  } catch {
    // The content isn't compressed.
    return [whole];
  }
};

/** Bytes inside a document. @param {unknown} value @returns {Uint8Array[]} */
const bytesIn = (value) => {
  if (value instanceof mongo.Binary) return [/** @type {any} */ (value).buffer];
  if (Array.isArray(value)) return value.flatMap(bytesIn);
  return typeof value === "object" && value !== null ? Object.values(value).flatMap(bytesIn) : [];
};

/** Searches every document, by database and collection: `billing.ledger`. @param {string} uri @param {Look} look */
export const searchMongo = async (uri, look) => {
  const client = new mongo.MongoClient(uri);
  try {
    const { databases } = await client.db().admin().listDatabases();
    for (const { name } of databases)
      for (const { collectionName } of await client.db(name).collections())
        for await (const document of client.db(name).collection(collectionName).find()) {
          const place = `${name}.${collectionName}`;
          look(place, mongo.BSON.serialize(document));
          for (const bytes of bytesIn(document)) look(place, bytes);
        }
  } finally {
    await client.close();
  }
};

/** A workflow deleted after it was listed has no history. @param {{ code?: number }} error */
const unlessGone = (error) => {
  if (error.code !== NOT_FOUND) throw error;
};

/** Visibility, histories and schedules. @param {string} address @param {Look} look */
export const searchTemporal = async (address, look) => {
  const connection = await Connection.connect({ address });
  try {
    const client = new Client({ connection });
    for await (const { workflowId, runId, raw } of client.workflow.list()) {
      look("Temporal", JSON.stringify(raw));
      const history = await client.workflow.getHandle(workflowId, runId).fetchHistory().catch(unlessGone);
      if (history) look("Temporal", temporal.api.history.v1.History.encode(history).finish());
    }
    for await (const schedule of client.schedule.list()) look("Temporal", JSON.stringify(schedule));
  } finally {
    await connection.close();
  }
};

/** @param {InstanceType<typeof Redis>} redis @param {string} key @returns {Promise<unknown>} */
const valueOf = async (redis, key) => {
  switch (await redis.type(key)) {
    case "string":
      return redis.get(key);
    case "hash":
      return redis.hgetall(key);
    case "list":
      return redis.lrange(key, 0, -1);
    case "set":
      return redis.smembers(key);
    case "zset":
      return redis.zrange(key, 0, -1);
    case "stream":
      return redis.xrange(key, "-", "+");
    default:
      return null;
  }
};

/** Searches every key and value. @param {string} url @param {Look} look */
export const searchRedis = async (url, look) => {
  const redis = new Redis(url);
  try {
    for await (const keys of redis.scanStream()) for (const key of keys) look("Redis", JSON.stringify([key, await valueOf(redis, key)]));
  } finally {
    redis.disconnect();
  }
};

const PREFIX = "nodeloom_";

/** Searches all data of a local platform: databases, Redis, Temporal, logs and files. @param {Look} look */
export const searchAll = async (look) => {
  const { mongoUri, redisUrl, temporalAddress } = readLocal();
  await searchMongo(mongoUri, (place, content) => look(place.replace(PREFIX, ""), content));
  await searchRedis(redisUrl, look);
  await searchTemporal(temporalAddress, look);
  for (const path of await filesIn(LOG_DIR)) look("logs", readFileSync(path));
  for (const path of await filesIn(MEDIA_DIR)) look("media", readFileSync(path));
  for (const path of await filesIn(EXECUTIONS_DIR)) look("executions", readFileSync(path));
};

/** Number of matches of a word by place. @param {string} word @returns {Promise<Map<string, number>>} */
export const placesOf = async (word) => {
  /** @type {Map<string, number>} */
  const places = new Map();
  await searchAll((place, content) => {
    if (readings(content).some((part) => part.includes(word))) places.set(place, (places.get(place) ?? 0) + 1);
  });
  return places;
};

/** @param {Map<string, number>} places */
export const listed = (places) => [...places].map(([place, count]) => `${place} ${count}`).join(", ") || "nowhere";
