import { spawn } from "node:child_process";
import { setTimeout as delay } from "node:timers/promises";
import { guard, unguard } from "./watchdog.mjs";

/** Grace period after SIGTERM before a child is killed. */
const DEFAULT_GRACE_MS = 20_000;
const TAIL_CHARACTERS = 4_000;
/** How long output is read after a child's exit. */
const CLOSED_MS = 1_000;

/**
 * @typedef {{ code: number | null, signal: NodeJS.Signals | null }} Exit
 *
 * @typedef {object} Child
 * @property {number} pid leader of its own process group
 * @property {Promise<Exit>} exited resolves once, for any reason
 * @property {Promise<void>} printed resolves after that, when all of its output is read
 * @property {() => string} tail end of its output
 * @property {(graceMs?: number) => Promise<void>} stop sends SIGTERM, then SIGKILL, to the whole group; resolves when it has ended
 * @property {import("node:child_process").ChildProcess} process
 *
 * @typedef {object} ChildOptions
 * @property {string} command
 * @property {readonly string[]} args
 * @property {NodeJS.ProcessEnv} [env]
 * @property {string} [cwd]
 * @property {boolean} [ipc] open a message channel
 * @property {(chunk: Buffer) => void} [output] receives stdout and stderr
 */

/** @type {Map<number, Child>} */
const living = new Map();
/** @type {() => void} */
let livingChanged = () => {};

/** Calls `listener` when a child starts or ends. @param {(pids: number[]) => void} listener */
export const onLivingChange = (listener) => {
  livingChanged = () => listener([...living.keys()]);
};

/** Stops all remaining children. @param {number} graceMs */
export const stopAllChildren = async (graceMs) => {
  await Promise.all([...living.values()].map((child) => child.stop(graceMs)));
};

/** @param {number} pid @param {NodeJS.Signals} signal */
const signalGroup = (pid, signal) => {
  try {
    process.kill(-pid, signal);
  } catch {
    // The group has ended.
  }
};

/**
 * Starts a process that ends with this one. It has its own group, so that Ctrl-C reaches it only through this process.
 * @param {ChildOptions} options
 * @returns {Promise<Child>}
 */
export const startChild = async ({ command, args, env = process.env, cwd, ipc = false, output }) => {
  const child = spawn(command, args, {
    env,
    cwd,
    detached: true,
    stdio: ipc ? ["ignore", "pipe", "pipe", "ipc"] : ["ignore", "pipe", "pipe"],
  });
  await new Promise((resolve, reject) => {
    child.once("spawn", () => resolve(undefined));
    child.once("error", reject);
  });
  const pid = /** @type {number} */ (child.pid);
  guard(pid);
  let printed = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream?.on("data", (/** @type {Buffer} */ chunk) => {
      printed = (printed + chunk.toString()).slice(-TAIL_CHARACTERS);
      output?.(chunk);
    });
  }
  child.on("error", () => {});
  /** @type {Promise<void>} */
  const closed = new Promise((resolve) => void child.once("close", () => resolve()));
  /** @type {Promise<Exit>} */
  const exited = new Promise((resolve) => {
    child.once("exit", (code, signal) => {
      // The rest of the leader's group has no parent now.
      signalGroup(pid, "SIGKILL");
      unguard(pid);
      living.delete(pid);
      livingChanged();
      resolve({ code, signal });
    });
  });
  const stop = async (graceMs = DEFAULT_GRACE_MS) => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    const timer = setTimeout(() => signalGroup(pid, "SIGKILL"), graceMs);
    child.kill("SIGTERM");
    await exited;
    clearTimeout(timer);
  };
  // Doesn't wait for other processes that keep the output streams open.
  const allPrinted = exited.then(() => Promise.race([closed, delay(CLOSED_MS, undefined, { ref: false })]));
  const running = { pid, exited, printed: allPrinted, tail: () => printed, stop, process: child };
  living.set(pid, running);
  livingChanged();
  return running;
};

/**
 * Runs a command to its end, without printing its output.
 * @param {string} command
 * @param {readonly string[]} args
 * @param {{ cwd?: string, env?: NodeJS.ProcessEnv, timeoutMs?: number, output?: (chunk: Buffer) => void }} [options]
 * @returns {Promise<{ ok: boolean, tail: string }>} `ok` if it exited with 0 before the time-out
 */
export const runCommand = async (command, args, { cwd, env, timeoutMs, output } = {}) => {
  /** @type {Child} */
  let child;
  try {
    child = await startChild({ command, args, cwd, env, output });
  } catch (error) {
    return { ok: false, tail: String(error) };
  }
  const timer = timeoutMs === undefined ? undefined : setTimeout(() => void child.stop(0), timeoutMs);
  const { code } = await child.exited;
  await child.printed;
  clearTimeout(timer);
  return { ok: code === 0, tail: child.tail().trim() };
};
