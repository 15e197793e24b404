import { startChild } from "./child.mjs";

const READY_DEADLINE_MS = 60_000;
/** Default grace period that a process gives its own work. */
const OWN_GRACE_MS = 15_000;
/** Time for final metrics and the exit. */
const EXIT_MS = 5_000;
/**
 * By default V8 marks its heap with four threads, which mostly wait for one another when several processes share a few cores. It also lets
 * a large heap grow by hundreds of megabytes, and keeps memory that an idle process no longer needs; platform/src/process/heap.ts frees
 * that.
 */
export const V8_FLAGS = ["--v8-pool-size=1", "--heap-growing-percent=60", "--expose-gc"];
/**
 * glibc settings. By default glibc keeps freed memory in eight arenas per core, and keeps more of it after large buffers. Two arenas
 * suffice for threads that mostly wait, and a fixed threshold doesn't grow.
 */
export const MALLOC = { MALLOC_ARENA_MAX: "2", MALLOC_TRIM_THRESHOLD_: "131072" };
const SHOWN_LINES = 8;
const SEVERE = new Set(["error", "fatal"]);

/** Reason of a failure in a line of output, if any. @param {string} line */
const meaningOf = (line) => {
  if (line.trim() === "" || /^\s+at /.test(line)) return [];
  if (!line.startsWith("{")) return [line];
  try {
    const { level, msg, reason, err } = JSON.parse(line);
    return SEVERE.has(level) ? [[msg, reason ?? err?.message].filter(Boolean).join(": ")] : [];
  } catch {
    return [];
  }
};

/** The reason of an exit in a process's output. @param {string} output */
export const explain = (output) => output.split("\n").flatMap(meaningOf).slice(-SHOWN_LINES).join("\n") || "it printed nothing";

/**
 * Grace period before a process is killed. It is longer than the process's own, so that its work can finish.
 * @param {NodeJS.ProcessEnv} env environment of the process
 */
export const stopGraceMs = ({ SHUTDOWN_GRACE_MS, DRAIN_MS }) => Number(DRAIN_MS || 0) + Number(SHUTDOWN_GRACE_MS || OWN_GRACE_MS) + EXIT_MS;

/**
 * Starts a Node.js process and waits for its ready message.
 * @param {{ name: string, args: readonly string[], env: NodeJS.ProcessEnv, output: (chunk: Buffer) => void }} options
 * @returns {Promise<import("../platform/supervisor.mjs").Launched>}
 */
export const launchNodeProcess = async ({ name, args, env, output }) => {
  const child = await startChild({
    command: process.execPath,
    args: [...V8_FLAGS, ...args],
    env: { ...MALLOC, ...env },
    ipc: true,
    output,
  });
  /** @type {Promise<"ready">} */
  const ready = new Promise((resolve) => {
    child.process.on("message", (message) => {
      if (typeof message === "object" && message !== null && "type" in message && message.type === "ready") resolve("ready");
    });
  });
  /** @type {NodeJS.Timeout | undefined} */
  let timer;
  /** @type {Promise<"late">} */
  const late = new Promise((resolve) => {
    timer = setTimeout(() => resolve("late"), READY_DEADLINE_MS);
  });
  const outcome = await Promise.race([ready, late, child.exited]);
  clearTimeout(timer);
  if (outcome !== "ready") {
    await child.stop(0);
    const why = outcome === "late" ? `was not ready within ${READY_DEADLINE_MS / 1000} s` : "ended while starting";
    throw new Error(`${name} ${why}:\n${explain(child.tail())}`);
  }
  return { pid: child.pid, exited: child.exited, stop: () => child.stop(stopGraceMs(env)) };
};
