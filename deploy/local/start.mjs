import { randomBytes } from "node:crypto";
import { parseArgs } from "node:util";
import { build } from "./build.mjs";
import { readLocal, writeLocal } from "./platform/local-file.mjs";
import { requireSupportedMachine } from "./run/machine.mjs";
import { CHILDREN_FILE, LOCK_FILE, LOG_DIR } from "./paths.mjs";
import { migrate, pidsByService, preparePlatform, startProcesses, startServers, stopPlatform } from "./platform/platform.mjs";
import { adminUiUrlOf, baseUrlOf, sandboxUrlOf } from "./run/processes.mjs";
import { createProgress } from "./run/progress.mjs";
import { endLeftovers, recordChildren } from "./run/leftovers.mjs";
import { takeLock } from "./run/lock.mjs";
import { seedAccounts } from "./seed/accounts.mjs";
import { createClient } from "./seed/client.mjs";
import { POSTER_MAKER, runDemo, seedWorkflows, WORKFLOWS } from "./seed/workflows.mjs";
import { stopAllChildren } from "./run/child.mjs";
import { writeStatusRows } from "./platform/status-file.mjs";
import { createSupervisor } from "./platform/supervisor.mjs";
import { startConsoleServer } from "./platform/console-server.mjs";
import { fetchLocalModels } from "./platform/local-models.mjs";
import { offerTemplates } from "./platform/templates.mjs";
import { watchSources } from "./platform/watch.mjs";
import { printWelcome } from "./platform/welcome.mjs";

const USAGE = `Usage: npm start -- [--once] [--watch] [--observe]
  --once     stop after the demo run; the exit code says whether it worked
  --watch    rebuild and restart what changes
  --observe  show the traces of requests and runs in Zipkin`;

const LEFTOVER_GRACE_MS = 5_000;
/** npm forwards a Ctrl-C that the terminal has already delivered, so a second signal within this time can be an echo. */
const ECHO_MS = 500;

/** Thrown to end a start after a stop signal. */
class StoppedStart extends Error {}

const readArguments = () => {
  try {
    const flag = /** @type {const} */ ({ type: "boolean" });
    const options = { once: flag, watch: flag, observe: flag, help: flag };
    return parseArgs({ options }).values;
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n${USAGE}\n`);
    process.exit(2);
  }
};

/** @param {import("./run/progress.mjs").Progress} progress */
const refuseSecondStart = async (progress) => {
  const lock = await takeLock(LOCK_FILE);
  if (!("holder" in lock)) return lock;
  const local = await readLocal();
  const where = local === undefined ? "is starting" : `runs at ${local.baseUrl}`;
  progress.fail(new Error(`Nodeloom ${where} already (process ${lock.holder.pid}). Stop it with Ctrl-C there, or see: npm run status`));
  process.exit(1);
};

/** Resolves to the signal's name when this process should stop; a second signal stops at once. @returns {Promise<NodeJS.Signals>} */
const stopRequest = () =>
  new Promise((resolve) => {
    for (const signal of /** @type {const} */ (["SIGINT", "SIGTERM", "SIGHUP"])) {
      let signalCount = 0;
      let firstAt = 0;
      process.on(signal, () => {
        signalCount += 1;
        firstAt ||= Date.now();
        const isEcho = signalCount === 2 && Date.now() - firstAt < ECHO_MS;
        if (signalCount > 1 && !isEcho) void stopAllChildren(0).then(() => process.exit(1));
        resolve(signal);
      });
    }
  });

/**
 * Creates demo data, stores it in local.json, and runs the demo workflow.
 * @param {{ progress: import("./run/progress.mjs").Progress, local: import("./platform/local-file.mjs").Local, secrets: import("./platform/secrets.mjs").Secrets, save: () => Promise<void> }} options
 */
const seedAndRun = async ({ progress, local, secrets, save }) => {
  const client = createClient(local.baseUrl);
  const traceId = randomBytes(16).toString("hex");
  await progress.step("demo data", async () => {
    local.accounts = await seedAccounts({ client, secrets, known: local.accounts });
    await save();
    await seedWorkflows({ client, key: local.accounts.pro?.apiKey ?? "" });
    await seedWorkflows({ client, key: local.accounts.business?.apiKey ?? "", workflows: [POSTER_MAKER] });
    return `6 accounts, ${WORKFLOWS.length} workflows`;
  });
  /** @type {Awaited<ReturnType<typeof runDemo>> | undefined} */
  let run;
  await progress.step("demo run", async () => {
    run = await runDemo({ client, key: local.accounts.pro?.apiKey ?? "", traceId });
    if (local.tracesUrl !== undefined) local.demoTraceUrl = `${local.tracesUrl}traces/${traceId}`;
    await save();
    return `${run.result.images[0]?.url} (${run.cost} credits, ${run.ms} ms)`;
  });
};

/** @param {{ progress: import("./run/progress.mjs").Progress, watching: boolean, observing: boolean, once: boolean, started: number }} options */
const createRun = ({ progress, watching, observing, once, started }) => {
  const env = process.env;
  /** @type {import("./platform/local-file.mjs").Local | undefined} */
  let local;
  /** @type {Awaited<ReturnType<typeof startConsoleServer>> | undefined} */
  let consoleServer;
  /** @type {Promise<void>} */
  let saving = Promise.resolve();
  const save = () => {
    saving = saving.then(async () => {
      if (local === undefined) return;
      local.pids = pidsByService(supervisor, env);
      await writeLocal(local);
    });
    return saving;
  };
  const supervisor = createSupervisor({ note: progress.note, changed: () => void save().catch(progress.fail) });

  const start = async () => {
    const prepared = await preparePlatform(env);
    const [servers] = await Promise.all([startServers({ supervisor, progress, env, observing }), build(progress)]);
    const platform = { ...prepared, ...servers };
    const migrated = migrate({ progress, env, platform });
    // If preparing the databases fails, this error is shown, not the processes' later errors.
    const startedProcesses = startProcesses({ supervisor, progress, env, platform }).catch((error) =>
      migrated.then(() => Promise.reject(error)),
    );
    await Promise.all([migrated, startedProcesses]);
    await writeStatusRows(platform);
    const { mongoUri, redisUrl, temporalAddress, tracesUrl } = servers;
    const accounts = (await readLocal())?.accounts ?? {};
    const urls = {
      baseUrl: baseUrlOf(platform, env),
      formerBaseUrls: prepared.formerBaseUrls,
      temporalAddress,
      temporalUiUrl: adminUiUrlOf(platform, env),
      tracesUrl,
      mongoUri,
      redisUrl,
      sandboxUrl: sandboxUrlOf(platform),
      sandboxControlKey: platform.secrets.SANDBOX_CONTROL_KEY,
    };
    local = { ...urls, pids: {}, accounts };
    await save();
    await seedAndRun({ progress, local, secrets: platform.secrets, save });
    if (watching) consoleServer = await startConsoleServer(local.baseUrl);
    const seconds = (Date.now() - started) / 1000;
    // Waits for the list of models that can't run yet, before the platform is reported as ready.
    const missing = once ? [] : await fetchLocalModels({ note: progress.note, env });
    await printWelcome({ progress, local, seconds, staying: !once, consoleUrl: consoleServer?.url ?? local.baseUrl, missing });
    if (!once) void offerTemplates({ note: progress.note, local, env });
    if (watching) await watchSources({ supervisor, progress, env, migrate: (quiet) => migrate({ progress: quiet, env, platform }) });
  };

  const stop = async () => {
    await consoleServer?.stop();
    await stopPlatform(supervisor);
    await stopAllChildren(LEFTOVER_GRACE_MS);
    await save();
  };
  return { start, stop };
};

const main = async () => {
  const flags = readArguments();
  if (flags.help) {
    process.stdout.write(`${USAGE}\n`);
    return 0;
  }
  const progress = createProgress();
  try {
    requireSupportedMachine();
  } catch (error) {
    progress.fail(error);
    return 1;
  }
  const lock = await refuseSecondStart(progress);
  const stopAsked = stopRequest();
  const once = flags.once ?? false;
  const run = createRun({ progress, watching: flags.watch ?? false, observing: flags.observe ?? false, once, started: Date.now() });
  let exitCode = 0;
  let recorded = async () => {};
  try {
    progress.line("Starting Nodeloom");
    const leftovers = await endLeftovers(CHILDREN_FILE);
    recorded = recordChildren(CHILDREN_FILE);
    if (leftovers > 0) progress.note("clean-up", `ended ${leftovers} processes of an earlier start`);
    const stopped = stopAsked.then((signal) => {
      throw new StoppedStart(`Stopped by ${signal}`);
    });
    stopped.catch(() => {});
    await Promise.race([run.start(), stopped]);
    if (!once) await stopAsked;
  } catch (error) {
    exitCode = 1;
    progress.fail(error);
    if (!(error instanceof StoppedStart)) progress.line(`Logs: ${LOG_DIR}`);
  }
  progress.line("\nStopping: requests that only this start can end are ended first. Ctrl-C stops at once");
  await run.stop();
  await recorded();
  await lock.release();
  progress.line("Stopped");
  return exitCode;
};

// If the reader of the output ends, the platform continues.
for (const stream of [process.stdout, process.stderr]) stream.on("error", () => {});
process.exitCode = await main();
process.exit();
