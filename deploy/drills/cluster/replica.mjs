import { createWriteStream } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { ROOT } from "../../local/paths.mjs";
import { startChild } from "../../local/run/child.mjs";
import { environmentOf, opsUrl, serviceOf } from "./services.mjs";

/** Preloaded into programs: resolves names to replicas. */
export const NAMES = fileURLToPath(new URL("names.cjs", import.meta.url));
const READY_MS = 120_000;
const LOOK_MS = 100;
/** Equals the probe's time-out in the chart. */
const PROBE_MS = 3_000;
/** Longer than any grace period of the chart. */
const STOP_MS = 180_000;

/**
 * @typedef {{ command: string, args: string[], env: NodeJS.ProcessEnv }} Command
 *
 * @typedef {object} Replica one process of a service at its own address
 * @property {string} name `billing 2`
 * @property {string} service
 * @property {string} ip
 * @property {() => number} pid
 * @property {() => Promise<Probed>} probe
 * @property {() => Promise<boolean>} isReady result of a probe
 * @property {() => Promise<void>} start resolves when it is ready
 * @property {() => Promise<import("../../local/run/child.mjs").Exit>} stop sends SIGTERM and returns the exit
 * @property {() => Promise<void>} kill sends SIGKILL
 */

/**
 * Returns the command of a platform program: `main` is its file relative to the root, `folder` is writable.
 * @typedef {(options: { main: string, env: Record<string, string>, folder: string }) => Command | Promise<Command>} MakeCommand
 */

/** Runs a file of the checkout, like `npm start`. @type {MakeCommand} */
export const nodeCommand = ({ main, env }) => ({
  command: process.execPath,
  args: ["--require", NAMES, join(ROOT, main)],
  env: { PATH: process.env.PATH, HOME: process.env.HOME, ...env },
});

/** @typedef {"ready" | "not ready" | "silent"} Probed `silent`: it exists, but didn't answer before the time-out */

/** @param {string} ip @returns {Promise<Probed>} */
const probe = (ip) =>
  fetch(`${opsUrl(ip)}/readyz`, { signal: AbortSignal.timeout(PROBE_MS) }).then(
    async (response) => {
      await response.arrayBuffer();
      return response.ok ? "ready" : "not ready";
    },
    (error) => (error.name === "TimeoutError" ? "silent" : "not ready"),
  );

/** @param {string} ip */
const isReady = async (ip) => (await probe(ip)) === "ready";

/**
 * @param {{ service: string, number: number, ip: string, env: () => Record<string, string>, folder: string, command: MakeCommand }} options
 * @returns {Replica}
 */
export const createReplica = ({ service, number, ip, env, folder, command }) => {
  const name = `${service} ${number}`;
  const log = createWriteStream(join(folder, "logs", `${service}-${number}.log`), { flags: "a" });
  /** @type {import("../../local/run/child.mjs").Child | undefined} */
  let child;
  const current = () => {
    if (child === undefined) throw new Error(`${name} does not run`);
    return child;
  };
  return {
    name,
    service,
    ip,
    pid: () => current().pid,
    probe: () => probe(ip),
    isReady: () => isReady(ip),
    start: async () => {
      const own = { ...environmentOf(service, ip, join(folder, "certificates")), ...env() };
      const program = await command({ main: serviceOf(service).main, env: own, folder });
      const started = await startChild({ ...program, output: (chunk) => log.write(chunk) });
      child = started;
      for (const end = Date.now() + READY_MS; !(await isReady(ip)); await delay(LOOK_MS)) {
        if (started.process.exitCode === null && started.process.signalCode === null && Date.now() < end) continue;
        throw new Error(`${name} did not start:\n${started.tail()}`);
      }
    },
    stop: async () => {
      const stopped = current();
      await stopped.stop(STOP_MS);
      return stopped.exited;
    },
    kill: async () => {
      const killed = current();
      process.kill(killed.pid, "SIGKILL");
      await killed.exited;
    },
  };
};
