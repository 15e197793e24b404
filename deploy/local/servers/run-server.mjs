import { stat } from "node:fs/promises";
import { startChild } from "../run/child.mjs";
import { filesBelow } from "../run/files.mjs";
import { freePort } from "./ports.cjs";
import { waitUntil } from "./probe.mjs";

const READY_DEADLINE_MS = 60_000;
/** Bytes that a server reads per millisecond before it is ready. Idle cores read fifty times as fast, and very busy ones ten times. */
const READ_BYTES_PER_MS = 2_000;
const FREE_PORT_ATTEMPTS = 3;
const STOP_GRACE_MS = 15_000;

/**
 * @typedef {"given" | "path" | "download" | "registry"} Source
 *
 * @typedef {object} RunningServer
 * @property {Source} source origin of the program
 * @property {string} [engine] name of the program
 * @property {number | null} pid null for a given server, which wasn't started here
 * @property {() => Promise<void>} stop
 * @property {Promise<import("../run/child.mjs").Exit>} exited never resolves for a given server
 *
 * @typedef {object} StartOptions
 * @property {string} dataDir
 * @property {string} cacheDir
 * @property {number} [port] a free port by default
 * @property {(line: string) => void} [log] receives progress lines
 * @property {(chunk: Buffer) => void} [output] receives the server's output
 * @property {NodeJS.ProcessEnv} [env]
 */

/** @type {Promise<never>} */
const never = new Promise(() => {});

/** Describes a server that another program runs. @returns {RunningServer} */
export const givenServer = () => ({ source: "given", pid: null, stop: async () => {}, exited: never });

/** Time to wait for a server that first reads all of its data. @param {string} folder */
export const readyMsWith = async (folder) => {
  const files = await Promise.all((await filesBelow(folder)).map((path) => stat(path)));
  return READY_DEADLINE_MS + Math.round(files.reduce((sum, { size }) => sum + size, 0) / READ_BYTES_PER_MS);
};

/**
 * Starts a server process and waits until it answers in its protocol. If another program takes the chosen port first, another port is
 * tried.
 * @param {{
 *   name: string,
 *   port?: number,
 *   command: string,
 *   args: (port: number) => readonly string[] | Promise<readonly string[]>,
 *   probe: (port: number) => Promise<boolean>,
 *   output?: (chunk: Buffer) => void,
 *   env?: NodeJS.ProcessEnv,
 *   readyMs?: number, }} options
 * @returns {Promise<{ port: number, child: import("../run/child.mjs").Child, stop: () => Promise<void> }>}
 */
export const runServer = async ({ name, port: fixedPort, command, args, probe, output, env, readyMs = READY_DEADLINE_MS }) => {
  let failure = "";
  for (let attempt = 0; attempt < (fixedPort === undefined ? FREE_PORT_ATTEMPTS : 1); attempt += 1) {
    const port = fixedPort ?? (await freePort());
    const child = await startChild({ command, args: await args(port), output, env });
    const disconnect = new AbortController();
    void child.exited.then(() => disconnect.abort());
    const ready = await waitUntil(() => probe(port), { deadlineMs: readyMs, given: disconnect.signal });
    if (ready && !disconnect.signal.aborted) return { port, child, stop: () => child.stop(STOP_GRACE_MS) };
    failure = disconnect.signal.aborted ? "ended while starting" : `did not answer within ${Math.round(readyMs / 1000)} s`;
    await child.stop(0);
    failure = `${name} (${command}) ${failure}${child.tail() === "" ? "" : `:\n${child.tail().trim()}`}`;
    if (!/already in use/i.test(child.tail())) break;
  }
  throw new Error(failure);
};
