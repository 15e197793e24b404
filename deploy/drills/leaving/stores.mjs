import { readdir, stat } from "node:fs/promises";
import { createRequire } from "node:module";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";

/** Every place where an account leaves something, each by its own name. */

const bench = createRequire(new URL("../../bench/package.json", import.meta.url));
const platform = createRequire(new URL("../../../services/platform/package.json", import.meta.url));
const { Client, Connection } = bench("@temporalio/client");
const { temporal } = bench("@temporalio/proto");
const { mongo } = platform("mongoose");
const { Redis } = platform("ioredis");
const GZIP = Buffer.from([0x1f, 0x8b]);

/** @typedef {(place: string, content: Uint8Array) => void} Look */

/** Bytes inside a document, and what they were before they were compressed. @param {unknown} value @returns {Uint8Array[]} */
const bytesIn = (value) => {
  if (value instanceof mongo.Binary) {
    const bytes = Buffer.from(/** @type {any} */ (value).buffer);
    const at = bytes.indexOf(GZIP);
    try {
      return at < 0 ? [bytes] : [bytes, gunzipSync(bytes.subarray(at))];
    } catch {
      return [bytes];
    }
  }
  if (Array.isArray(value)) return value.flatMap(bytesIn);
  return typeof value === "object" && value !== null ? Object.values(value).flatMap(bytesIn) : [];
};

/** By collection: `billing.ledger`. @param {string} uri @param {string} prefix @param {Look} look */
export const searchMongo = async (uri, prefix, look) => {
  const client = new mongo.MongoClient(uri);
  try {
    const { databases } = await client.db().admin().listDatabases();
    for (const { name } of databases)
      for (const { collectionName } of await client.db(name).collections())
        for await (const document of client.db(name).collection(collectionName).find()) {
          const place = `${name.replace(prefix, "")}.${collectionName}`;
          look(place, mongo.BSON.serialize(document));
          for (const bytes of bytesIn(document)) look(place, bytes);
        }
  } finally {
    await client.close();
  }
};

/** Visibility, histories and schedules. @param {string} address @param {Look} look */
export const searchTemporal = async (address, look) => {
  const connection = await Connection.connect({ address });
  try {
    const client = new Client({ connection });
    for await (const { workflowId, runId, raw } of client.workflow.list()) {
      look("Temporal", Buffer.from(JSON.stringify(raw)));
      const history = await client.workflow
        .getHandle(workflowId, runId)
        .fetchHistory()
        .catch(() => undefined);
      if (history) look("Temporal", temporal.api.history.v1.History.encode(history).finish());
    }
    for await (const schedule of client.schedule.list()) look("Temporal", Buffer.from(JSON.stringify(schedule)));
  } finally {
    await connection.close();
  }
};

/** @param {string} url @param {Look} look */
export const searchRedis = async (url, look) => {
  const redis = new Redis(url);
  try {
    for await (const keys of redis.scanStream())
      for (const key of keys) {
        const type = await redis.type(key);
        const value = type === "string" ? await redis.get(key) : type === "hash" ? await redis.hgetall(key) : type;
        look("Redis", Buffer.from(JSON.stringify([key, value])));
      }
  } finally {
    redis.disconnect();
  }
};

/** @param {string} folder @returns {Promise<string[]>} */
export const filesIn = async (folder) => {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true }).catch(() => []);
  const files = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  const sized = await Promise.all(files.map(async (path) => ((await stat(path).catch(() => undefined)) ? [path] : [])));
  return sized.flat().sort();
};
