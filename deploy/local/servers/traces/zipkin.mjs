import { join } from "node:path";
import { readdir } from "node:fs/promises";
import { findOnPath } from "../programs/cache.mjs";
import { startCollector } from "./collector.mjs";
import { hiddenLoopback, startHostGuard } from "../host-guard.mjs";
import { locate } from "../programs/locate.mjs";
import { fetchJavaPackage, findJavaPackage, Unavailable } from "../programs/packages.mjs";
import { freePort } from "../ports.cjs";
import { answersHttp } from "../probe.mjs";
import { runServer } from "../run-server.mjs";

const HELP = "It needs Java 17 and Maven (Debian: default-jdk-headless and maven); Zipkin is then fetched by itself";

/** @type {import("../programs/packages.mjs").JavaPackage} */
const ZIPKIN = {
  group: "io.zipkin",
  artifact: "zipkin-server",
  version: "3.5.1",
  classifier: "slim",
  sha256: ["7956e7f2c64b7073e1362b81e697fceb5fe61e121ad3cb48d545461026964b0f"],
};

const JVM_FLAGS = ["-Xmx256m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Xshare:auto"];
const MAX_SPANS = "100000";
const UI_PATH = "/zipkin/";

/** @param {{ host: string, port: number }} listen @param {string} jar */
const zipkinArguments = ({ host, port }, jar) => [
  ...JVM_FLAGS,
  ...["-jar", jar],
  ...[`--armeria.ports[0].ip=${host}`, `--armeria.ports[0].port=${port}`, "--armeria.ports[0].protocols[0]=http"],
  "--zipkin.internal.actuator.enabled=false",
];

/** @param {{ cacheDir: string, env: NodeJS.ProcessEnv, log: (line: string) => void }} options */
const locateZipkin = ({ cacheDir, env, log }) =>
  locate({
    server: "Zipkin",
    help: HELP,
    log,
    ways: [
      {
        source: "registry",
        description: `Zipkin ${ZIPKIN.version}`,
        find: () => findJavaPackage(cacheDir, ZIPKIN),
        fetch: () => fetchJavaPackage({ cacheDir, env, jar: ZIPKIN }),
      },
    ],
  });

/**
 * A trace viewer: Zipkin, which keeps the latest traces in memory, and a collector that sends them to it. Zipkin has no login and accepts
 * any Host header, so it can be reached only through a guard.
 * @param {import("../run-server.mjs").StartOptions & { uiPort?: number }} options `port`: port of the collector
 * @returns {Promise<import("../run-server.mjs").RunningServer & { collectorUrl: string, uiUrl: string }>}
 */
export const startZipkin = async ({ cacheDir, port, uiPort, log = () => {}, output = () => {}, env = process.env }) => {
  const java = await findOnPath(env, "java");
  if (java === undefined) throw new Unavailable(`java is not on PATH. ${HELP}`);
  const { found, source, description } = await locateZipkin({ cacheDir, env, log });
  const [jar] = await readdir(found);
  const host = hiddenLoopback();
  const server = await runServer({
    name: "Zipkin",
    command: java,
    args: (chosenPort) => zipkinArguments({ host, port: chosenPort }, join(found, /** @type {string} */ (jar))),
    probe: (chosenPort) => answersHttp(`http://${host}:${chosenPort}/health`),
    output,
    env: { ...env, MEM_MAX_SPANS: MAX_SPANS },
  });
  const guardPort = uiPort ?? (await freePort());
  const collectorPort = port ?? (await freePort());
  const note = (/** @type {string} */ line) => output(Buffer.from(line));
  const guard = await startHostGuard({ port: guardPort, target: { host, port: server.port } });
  const collector = await startCollector({ port: collectorPort, zipkinUrl: `http://${host}:${server.port}`, log: note });
  const close = () => Promise.all([guard.stop(), collector.stop()]);
  return {
    collectorUrl: `http://127.0.0.1:${collectorPort}`,
    uiUrl: `http://127.0.0.1:${guardPort}${UI_PATH}`,
    source,
    engine: description,
    pid: server.child.pid,
    stop: async () => {
      await close();
      await server.stop();
    },
    // Stops both first, because a restart needs their ports again.
    exited: server.child.exited.then(async (exit) => {
      await close();
      return exit;
    }),
  };
};
