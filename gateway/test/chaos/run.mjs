/**
 * `npm run chaos`: kills every part of a whole local platform in turn while runs are in flight, then proves that nothing
 * was lost, nothing was charged twice and every webhook arrived. Bounded in time; touches only processes it started.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { createApi } from "./api.mjs";
import { createReceiver } from "./receiver.mjs";
import { createLoad } from "./load.mjs";
import { verify } from "./verify.mjs";

const ROOT = fileURLToPath(new URL("../../..", import.meta.url));
const LOCAL = join(ROOT, ".nodeloom", "local.json");
const START_MS = 120_000;
const RUNS = Number(process.env.CHAOS_RUNS ?? 200);
const SETTLE_MS = 240_000;
/** Between two faults: long enough for a supervisor to bring a process back, short enough that the next fault meets its recovery. */
const GAP_MS = 5_000;

const say = (/** @type {string} */ line) => process.stdout.write(`${((Date.now() - started) / 1000).toFixed(1).padStart(6)} s  ${line}\n`);
const pause = (/** @type {number} */ ms) => new Promise((resolve) => setTimeout(resolve, ms));
const started = Date.now();

/** What runs where now; a restarted process has another pid. */
const readLocal = () => JSON.parse(readFileSync(LOCAL, "utf8"));

const startPlatform = async (/** @type {string} */ allow) => {
  if (existsSync(join(ROOT, ".nodeloom", "lock.json"))) throw new Error("a platform is running here already: stop it first");
  const child = spawn(process.execPath, [join(ROOT, "deploy/local/start.mjs")], {
    env: { ...process.env, NODELOOM_HOSTING: "separate", EGRESS_ALLOW: allow, LOG_LEVEL: "warn" },
    stdio: ["ignore", "pipe", "inherit"],
  });
  let output = "";
  child.stdout.on("data", (chunk) => (output += chunk));
  const end = Date.now() + START_MS;
  while (!output.includes("Ctrl-C stops it")) {
    if (child.exitCode !== null || Date.now() > end) throw new Error(`the platform did not start:\n${output}`);
    await pause(200);
  }
  return {
    stop: async () => {
      const gone = once(child, "exit");
      child.kill("SIGTERM");
      await gone;
    },
  };
};

/** kill -9, the database included. */
const killService = async (/** @type {string} */ name) => {
  const pid = readLocal().pids[name];
  if (!pid) throw new Error(`${name} has no process`);
  process.kill(pid, "SIGKILL");
  say(`SIGKILL ${name} (${pid})`);
};

const sandboxFault = async (/** @type {string} */ what, /** @type {object} */ fault, /** @type {number} */ forMs) => {
  const { sandboxUrl, sandboxControlKey } = readLocal();
  say(`sandbox: ${what} for ${forMs / 1000} s`);
  const set = (/** @type {RequestInit} */ init) =>
    fetch(`${sandboxUrl}/sandbox/faults`, {
      ...init,
      headers: { "content-type": "application/json", "x-sandbox-control-key": sandboxControlKey },
    }).catch(() => undefined);
  await set({ method: "POST", body: JSON.stringify(fault) });
  await pause(forMs);
  await set({ method: "DELETE" });
};

const faults = async () => {
  for (const name of [
    "executions",
    "billing",
    "usage",
    "workflows",
    "gateway",
    "media",
    "sandbox",
    "identity",
    "models",
    "redis",
    "temporal",
    "mongodb",
  ]) {
    await pause(GAP_MS);
    await killService(name);
  }
  await pause(GAP_MS);
  await sandboxFault("paused", { pauseMs: 30_000 }, 30_000);
  await sandboxFault("answers 500s", { errorRate: 0.5 }, 5_000);
  await sandboxFault("answers malformed bodies", { malformed: true }, 5_000);
};

const receiver = await createReceiver();
const platform = await startPlatform(receiver.address);
let failed = true;
try {
  const api = createApi(() => readLocal().baseUrl);
  const user = await api.enterprise(readLocal().accounts, receiver.url);
  const load = await createLoad({ api, user, runs: RUNS, say });
  say(`${RUNS} mixed runs while every part is killed in turn`);
  const running = load.start();
  await faults();
  const outcomes = await running;
  failed = !(await verify({ api, user, outcomes, receiver, admin: readLocal().accounts.admin, deadlineMs: SETTLE_MS, say }));
} catch (error) {
  say(error instanceof Error ? (error.stack ?? error.message) : String(error));
} finally {
  await platform.stop();
  receiver.close();
}
process.stdout.write(failed ? "\nchaos: FAILED\n" : "\nchaos: passed\n");
process.exit(failed ? 1 : 0);
