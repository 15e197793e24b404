import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { defaultCacheDir } from "./programs/cache.mjs";
import { startMongodb } from "./mongodb.mjs";
import { startRedis } from "./redis.mjs";
import { startTemporal } from "./temporal.mjs";

/** @type {{ stop: () => Promise<void> }[]} */
let running = [];
/** @type {string | undefined} */
let dataDir;

/**
 * Starts one MongoDB, Redis and Temporal for a test run, on free ports with temporary data, and sets their addresses in `process.env`.
 * Addresses that are already set are used.
 */
export const startTestServers = async () => {
  dataDir = await mkdtemp(join(tmpdir(), "nodeloom-test-"));
  const options = { dataDir, cacheDir: defaultCacheDir(process.env), log: (/** @type {string} */ line) => console.error(line) };
  const started = await Promise.allSettled([startMongodb(options), startRedis(options), startTemporal(options)]);
  running = started.flatMap((result) => (result.status === "fulfilled" ? [result.value] : []));
  const [mongodb, redis, temporal] = started;
  if (mongodb.status === "rejected" || redis.status === "rejected" || temporal.status === "rejected") {
    await stopTestServers();
    const failures = started.flatMap((result) => (result.status === "rejected" ? [result.reason] : []));
    throw new AggregateError(failures, failures.map((failure) => failure.message).join("\n"));
  }
  process.env.MONGODB_URI = mongodb.value.uri;
  process.env.REDIS_URL = redis.value.url;
  process.env.TEMPORAL_ADDRESS = temporal.value.address;
  if (temporal.value.uiUrl !== undefined) process.env.TEMPORAL_UI_URL = temporal.value.uiUrl;
};

/** Stops the servers that startTestServers started, and deletes their data. */
export const stopTestServers = async () => {
  const servers = running;
  running = [];
  await Promise.all(servers.map((server) => server.stop()));
  if (dataDir !== undefined) await rm(dataDir, { recursive: true, force: true });
};
