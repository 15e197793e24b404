import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { freePort } from "../../local/servers/ports.cjs";

export const ROOT = fileURLToPath(new URL("../../..", import.meta.url));
const LOCAL = join(ROOT, ".nodeloom", "local.json");
/** A busy machine takes minutes. */
const START_MS = 300_000;

export const pause = (/** @type {number} */ ms) => new Promise((resolve) => setTimeout(resolve, ms));

/** Current processes and addresses. A restarted process has a new id. */
export const readLocal = () => JSON.parse(readFileSync(LOCAL, "utf8"));

/** @param {string} name @returns {number} */
export const pidOf = (name) => {
  const pid = readLocal().pids[name];
  if (!pid) throw new Error(`${name} has no process`);
  return pid;
};

/** Starts a whole local platform with one process per service. @param {Record<string, string>} env */
export const startPlatform = async (env) => {
  if (existsSync(join(ROOT, ".nodeloom", "lock.json"))) throw new Error("a platform is running here already: stop it first");
  // Not the usual port, because another platform could take it while this gateway is down.
  const GATEWAY_LISTEN = `127.0.0.1:${await freePort()}`;
  const child = spawn(process.execPath, [join(ROOT, "deploy/local/start.mjs")], {
    env: {
      GATEWAY_LISTEN,
      ...process.env,
      LOCAL_MODELS: "off",
      SEED_TEMPLATES: "off",
      NODELOOM_HOSTING: "separate",
      LOG_LEVEL: "warn",
      ...env,
    },
    stdio: ["ignore", "pipe", "inherit"],
  });
  let output = "";
  child.stdout.on("data", (chunk) => (output += chunk));
  const stop = async () => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    const exit = once(child, "exit");
    child.kill("SIGTERM");
    await exit;
  };
  const end = Date.now() + START_MS;
  while (!output.includes("Ctrl-C stops it")) {
    if (child.exitCode !== null || Date.now() > end) {
      await stop();
      throw new Error(`the platform did not start:\n${output}`);
    }
    await pause(200);
  }
  return { stop };
};
