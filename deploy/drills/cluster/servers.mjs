import { mkdir } from "node:fs/promises";
import { defaultCacheDir } from "../../local/servers/programs/cache.mjs";
import { startMongodb } from "../../local/servers/mongodb.mjs";
import { startRedis } from "../../local/servers/redis.mjs";
import { startTemporal } from "../../local/servers/temporal.mjs";
import ports from "../../local/servers/ports.cjs";

/**
 * MongoDB, Redis and Temporal with data in one folder and fixed ports, so that each can be stopped and restarted.
 * @typedef {"mongodb" | "redis" | "temporal"} ServerName
 * @typedef {Awaited<ReturnType<typeof startServers>>} Servers
 */

const START = { mongodb: startMongodb, redis: startRedis, temporal: startTemporal };
/** Servers from the environment aren't stopped by the drill. */
const GIVEN = ["MONGODB_URI", "REDIS_URL", "TEMPORAL_ADDRESS", "TEMPORAL_UI_URL"];

/** @param {string} dataDir */
export const startServers = async (dataDir) => {
  const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !GIVEN.includes(name)));
  const freePorts = { mongodb: await ports.freePort(), redis: await ports.freePort(), temporal: await ports.freePort() };
  /** @type {Partial<Record<ServerName, import("../../local/servers/run-server.mjs").RunningServer>>} */
  const running = {};
  /** @param {ServerName} name */
  const start = async (name) => {
    running[name] = await START[name]({ dataDir, cacheDir: defaultCacheDir(env), port: freePorts[name], env });
  };
  /** @param {ServerName} name */
  const stop = async (name) => {
    await running[name]?.stop();
    delete running[name];
  };
  const names = /** @type {ServerName[]} */ (Object.keys(START));
  const stopAll = async () => {
    await Promise.all(names.map(stop));
  };
  const startAll = async () => {
    await mkdir(dataDir, { recursive: true });
    const started = await Promise.allSettled(names.map(start));
    const failed = started.find((result) => result.status === "rejected");
    if (failed === undefined) return;
    await stopAll();
    throw failed.reason;
  };
  await startAll();
  return {
    dataDir,
    mongoUri: () => `mongodb://127.0.0.1:${freePorts.mongodb}`,
    redisUrl: () => `redis://127.0.0.1:${freePorts.redis}`,
    temporalAddress: () => `127.0.0.1:${freePorts.temporal}`,
    /** @param {ServerName} name */
    pidOf: (name) => running[name]?.pid ?? null,
    start: startAll,
    stop: stopAll,
  };
};
