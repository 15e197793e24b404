import { once } from "node:events";
import { createReadStream } from "node:fs";
import { readdir } from "node:fs/promises";
import http2 from "node:http2";
import { createRequire } from "node:module";
import { join } from "node:path";
import { DATA_DIR, LOG_DIR } from "../../local/paths.mjs";

/** Reads every place where a run stores data. */

const platform = createRequire(new URL("../../../services/platform/package.json", import.meta.url));
const { Redis } = platform("ioredis");

/** @typedef {import("../support/stores.mjs").Look} Look */

/**
 * Watches every Redis command, including messages between processes.
 * @param {string} url @param {Look} look @returns {Promise<() => void>} stops the watch
 */
export const watchRedis = async (url, look) => {
  const redis = new Redis(url);
  const monitor = await redis.monitor();
  monitor.on("monitor", (/** @type {string} */ _time, /** @type {string[]} */ command) => look("Redis", command.join(" ")));
  return () => {
    monitor.disconnect();
    redis.disconnect();
  };
};

/** An OpenTelemetry collector that searches traces, metrics and logs. @param {Look} look */
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

/** Logs of all processes and files of the databases. @param {Look} look */
export const searchFiles = async (look) => {
  await searchFolder("logs", LOG_DIR, look);
  await searchFolder("files of the databases", DATA_DIR, look);
};
