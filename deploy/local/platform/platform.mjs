import { join } from "node:path";
import { DATA_DIR, DATA_FOLDERS, LOG_DIR, ROOT } from "../paths.mjs";
import { privateFolder } from "../run/files.mjs";
import { chooseListens, groupArguments, groupEnvironment, groupOf, processGroups, SERVICE_NAMES } from "../run/processes.mjs";
import { openLogFile } from "../run/log-file.mjs";
import { explain, launchNodeProcess } from "../run/node-process.mjs";
import { runToEnd } from "../run/to-end.mjs";
import { formerBaseUrlsAfter, readLocal } from "./local-file.mjs";
import { localSecrets } from "./secrets.mjs";
import { defaultCacheDir } from "../servers/programs/cache.mjs";
import { startMongodb } from "../servers/mongodb.mjs";
import { freePort } from "../servers/ports.cjs";
import { startRedis } from "../servers/redis.mjs";
import { startTemporal } from "../servers/temporal.mjs";
import { startZipkin } from "../servers/traces/zipkin.mjs";

/** Processes to stop last, in this order, because others need them. */
const STOP_LAST = ["mongodb", "redis", "temporal"];
const VIEWER = "zipkin";

/** @param {string} name */
export const logPath = (name) => join(LOG_DIR, `${name}.log`);

/** @param {string | undefined} text */
const givenPort = (text) => (text ? Number(text) : undefined);

/**
 * Starts the three servers in parallel, and a trace viewer if requested.
 * @param {{ supervisor: import("./supervisor.mjs").Supervisor, progress: import("../run/progress.mjs").Progress, env: NodeJS.ProcessEnv, observing?: boolean }} options
 */
export const startServers = async ({ supervisor, progress, env, observing = false }) => {
  /**
   * @template {import("../servers/run-server.mjs").RunningServer} S
   * @param {string} name
   * @param {(options: import("../servers/run-server.mjs").StartOptions) => Promise<S>} start
   * @param {string | undefined} fixedPort
   * @returns {Promise<S>}
   */
  const serve = async (name, start, fixedPort) => {
    const port = givenPort(fixedPort) ?? (await freePort());
    const output = openLogFile(logPath(name));
    /** @type {S | undefined} */
    let running;
    const launch = async () => {
      const log = (/** @type {string} */ line) => progress.note(name, line.slice(line.indexOf(":") + 2));
      running = await start({ dataDir: DATA_DIR, cacheDir: defaultCacheDir(env), port, log, output, env });
      return running;
    };
    await progress.step(name, async () => {
      await supervisor.start({ name, launch });
      return running?.engine ?? "";
    });
    return /** @type {S} */ (/** @type {unknown} */ (running));
  };
  const uiPort = givenPort(env.TEMPORAL_UI_PORT) ?? (await freePort());
  const tracesPort = givenPort(env.TRACES_UI_PORT) ?? (await freePort());
  const [mongodb, redis, temporal, zipkin] = await Promise.all([
    serve("mongodb", startMongodb, env.MONGODB_PORT),
    serve("redis", startRedis, env.REDIS_PORT),
    serve("temporal", (options) => startTemporal({ ...options, uiPort }), env.TEMPORAL_PORT),
    observing ? serve(VIEWER, (options) => startZipkin({ ...options, uiPort: tracesPort }), undefined) : undefined,
  ]);
  return {
    mongoUri: mongodb.uri,
    redisUrl: redis.url,
    temporalAddress: temporal.address,
    temporalUiUrl: temporal.uiUrl,
    collectorUrl: zipkin?.collectorUrl,
    tracesUrl: zipkin?.uiUrl,
  };
};

/**
 * Creates indexes and other requirements in the servers, before the services become ready.
 * @param {{ progress: import("../run/progress.mjs").Progress, env: NodeJS.ProcessEnv, platform: import("../run/processes.mjs").Platform }}
 *   options
 */
export const migrate = ({ progress, env, platform }) =>
  progress.step("databases", async () => {
    const environment = { ...groupEnvironment({ services: [], platform, env }), LOG_LEVEL: "info" };
    const { code, output } = await runToEnd(process.execPath, [join(ROOT, "services", "migrate")], { cwd: ROOT, env: environment });
    openLogFile(logPath("migrate"))(Buffer.from(output));
    if (code !== 0) throw new Error(`the databases could not be made ready:\n${explain(output)}`);
    return output.includes('"msg":"migrated"') ? "migrated" : "up to date";
  });

/**
 * Starts Nodeloom's processes in parallel.
 * @param {{
 *   supervisor: import("./supervisor.mjs").Supervisor,
 *   progress: import("../run/progress.mjs").Progress,
 *   env: NodeJS.ProcessEnv,
 *   platform: import("../run/processes.mjs").Platform,
 * }} options
 */
export const startProcesses = async ({ supervisor, progress, env, platform }) => {
  const groups = Object.entries(processGroups(env));
  await Promise.all(
    groups.map(([name, services]) => {
      const output = openLogFile(logPath(name));
      const launch = () =>
        launchNodeProcess({ name, args: groupArguments(services), env: groupEnvironment({ services, platform, env }), output });
      return progress.step(name, async () => {
        await supervisor.start({ name, launch });
        return services.length > 1 ? services.join(", ") : "";
      });
    }),
  );
};

/** Creates the folders of a platform and chooses addresses and secrets. @param {NodeJS.ProcessEnv} env */
export const preparePlatform = async (env) => {
  await Promise.all(DATA_FOLDERS.map(privateFolder));
  const formerBaseUrls = formerBaseUrlsAfter(await readLocal());
  return { listens: await chooseListens(env), secrets: await localSecrets(env), formerBaseUrls };
};

/**
 * Process ids by service. Services in one process share an id.
 * @param {import("./supervisor.mjs").Supervisor} supervisor @param {NodeJS.ProcessEnv} env
 * @returns {Record<string, number | null>}
 */
export const pidsByService = (supervisor, env) => {
  const pids = supervisor.pids();
  const own = SERVICE_NAMES.map((service) => [service, pids[groupOf(env, service) ?? service] ?? null]);
  return Object.fromEntries([
    ...own,
    ...STOP_LAST.map((name) => [name, pids[name] ?? null]),
    ...(VIEWER in pids ? [[VIEWER, pids[VIEWER]]] : []),
  ]);
};

/**
 * Stops all processes, callers before their services, so that work in progress can finish.
 * @param {import("./supervisor.mjs").Supervisor} supervisor
 */
export const stopPlatform = async (supervisor) => {
  const names = Object.keys(supervisor.pids());
  const FIRST = ["gateway", "executions"];
  for (const name of FIRST) await supervisor.stop([name]);
  await supervisor.stop(names.filter((name) => ![...FIRST, ...STOP_LAST, VIEWER].includes(name)));
  await supervisor.stop([...STOP_LAST, VIEWER].filter((name) => names.includes(name)));
};
