import { once } from "node:events";
import { createReadStream } from "node:fs";
import { readdir } from "node:fs/promises";
import http2 from "node:http2";
import { createRequire } from "node:module";
import { join } from "node:path";
import { DATA_DIR, LOG_DIR } from "../../local/paths.mjs";

/** Every place where a run leaves something, each read whole. */

const bench = createRequire(new URL("../../bench/package.json", import.meta.url));
const platform = createRequire(new URL("../../../services/platform/package.json", import.meta.url));
const { Client, Connection } = bench("@temporalio/client");
const { temporal } = bench("@temporalio/proto");
const { mongo } = platform("mongoose");
const { Redis } = platform("ioredis");

/** @typedef {import("./search.mjs").Look} Look */

/** Bytes inside a document. @param {unknown} value @returns {Uint8Array[]} */
const bytesIn = (value) => {
  if (value instanceof mongo.Binary) return [/** @type {any} */ (value).buffer];
  if (Array.isArray(value)) return value.flatMap(bytesIn);
  return typeof value === "object" && value !== null ? Object.values(value).flatMap(bytesIn) : [];
};

/** @param {string} uri @param {Look} look */
export const searchMongo = async (uri, look) => {
  const client = new mongo.MongoClient(uri);
  try {
    const { databases } = await client.db().admin().listDatabases();
    for (const { name } of databases)
      for (const { collectionName } of await client.db(name).collections())
        for await (const document of client.db(name).collection(collectionName).find()) {
          look("MongoDB", mongo.BSON.serialize(document));
          for (const bytes of bytesIn(document)) look("MongoDB", bytes);
        }
  } finally {
    await client.close();
  }
};

/** @param {string} address @param {Look} look */
export const searchTemporal = async (address, look) => {
  const connection = await Connection.connect({ address });
  try {
    const client = new Client({ connection });
    for await (const { workflowId, runId, raw } of client.workflow.list()) {
      look("Temporal", JSON.stringify(raw));
      const history = await client.workflow.getHandle(workflowId, runId).fetchHistory();
      look("Temporal", temporal.api.history.v1.History.encode(history).finish());
    }
  } finally {
    await connection.close();
  }
};

/** Reads what every key has. @param {InstanceType<typeof Redis>} redis @param {string} key @returns {Promise<unknown>} */
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

/** Looks at every command that Redis gets, messages between processes among them. @param {string} url @param {Look} look */
export const watchRedis = async (url, look) => {
  const redis = new Redis(url);
  const monitor = await redis.monitor();
  monitor.on("monitor", (/** @type {string} */ _time, /** @type {string[]} */ command) => look("Redis", command.join(" ")));
  return {
    /** What it has at the end. */
    search: async () => {
      for await (const keys of redis.scanStream()) for (const key of keys) look("Redis", JSON.stringify([key, await valueOf(redis, key)]));
    },
    stop: () => {
      monitor.disconnect();
      redis.disconnect();
    },
  };
};

/** A collector of OpenTelemetry that looks at traces, metrics and logs as they come. @param {Look} look */
export const startCollector = async (look) => {
  const server = http2.createServer();
  server.on("stream", (stream, headers) => {
    const place = String(headers[":path"]).includes("Trace") ? "traces" : "metrics";
    /** @type {Buffer[]} */
    const chunks = [];
    stream.on("data", (/** @type {Buffer} */ chunk) => chunks.push(chunk));
    stream.on("error", () => stream.destroy());
    stream.on("end", () => {
      look(place, Buffer.concat(chunks));
      stream.respond({ ":status": 200, "content-type": "application/grpc" }, { waitForTrailers: true });
      stream.on("wantTrailers", () => stream.sendTrailers({ "grpc-status": "0" }));
      stream.end(Buffer.alloc(5));
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = /** @type {import("node:net").AddressInfo} */ (server.address());
  return { url: `http://127.0.0.1:${port}`, stop: () => server.close() };
};

const OVERLAP = 16 * 1024;

/** @param {string} place @param {string} folder @param {Look} look */
const searchFolder = async (place, folder, look) => {
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue;
    let rest = Buffer.alloc(0);
    for await (const chunk of createReadStream(join(entry.parentPath, entry.name), { highWaterMark: 4 * 1024 * 1024 })) {
      const part = Buffer.concat([rest, chunk]);
      look(place, part);
      rest = part.subarray(-OVERLAP);
    }
  }
};

/** Logs of every process, and the files of the databases. @param {Look} look */
export const searchFiles = async (look) => {
  await searchFolder("logs", LOG_DIR, look);
  await searchFolder("files of the databases", DATA_DIR, look);
};
