import { join } from "node:path";
import { SERVICES } from "../../services.cjs";
import { readJson, writeJson } from "../run/files.mjs";
import { STATE_DIR } from "../paths.mjs";
import { listenOf } from "../run/processes.mjs";
import { redisServers } from "../servers/redis.mjs";

const STATUS_FILE = join(STATE_DIR, "processes.json");

/**
 * Health endpoints of processes.
 * @typedef {{ name: string, address: string, health: "grpc" | "http" | "mongodb" | "redis" | "temporal", url?: string }} Row
 */

/** @param {string} uri */
const hostOf = (uri) =>
  uri
    .replace(/^[a-z+]+:\/\//, "")
    .replace(/^[^@/]*@/, "")
    .replace(/[/?].*$/, "");

/** @param {import("../run/processes.mjs").Platform} platform @returns {Row[]} */
const rowsOf = (platform) => [
  ...SERVICES.map(({ name, protocol }) => {
    const address = /** @type {string} */ (platform.listens[listenOf(name)]);
    return { name, address, health: protocol, ...(protocol === "http" ? { url: `http://${address}/readyz` } : {}) };
  }),
  { name: "mongodb", address: hostOf(platform.mongoUri), health: "mongodb" },
  { name: "redis", address: redisServers(platform.redisUrl).join(","), health: "redis" },
  { name: "temporal", address: platform.temporalAddress, health: "temporal" },
  ...(platform.tracesUrl === undefined
    ? []
    : [{ name: "zipkin", address: new URL(platform.tracesUrl).host, health: /** @type {const} */ ("http"), url: platform.tracesUrl }]),
];

/** @param {import("../run/processes.mjs").Platform} platform */
export const writeStatusRows = (platform) => writeJson(STATUS_FILE, rowsOf(platform));

/** @returns {Promise<Row[]>} */
export const readStatusRows = async () => (await readJson(STATUS_FILE)) ?? [];
