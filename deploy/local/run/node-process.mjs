import { startChild } from "./child.mjs";

const READY_DEADLINE_MS = 60_000;
/** What a process takes for its stop by itself, where it is not told. */
const OWN_GRACE_MS = 15_000;
/** For what comes after that: the last metrics, and its exit. */
const EXIT_MS = 5_000;
/**
 * By itself V8 marks its heap by four threads, which beside several processes on a few cores mostly wait for one another, lets a
 * large heap grow by hundreds of megabytes, and keeps what an idle process no longer needs: platform/src/process/heap.ts collects that.
 */
export const V8_FLAGS = ["--v8-pool-size=1", "--heap-growing-percent=60", "--expose-gc"];
/**
 * What glibc reads. By itself it keeps what was freed, in eight arenas a core, and the more, the larger the buffers were: two
 * arenas suffice for threads that mostly wait, and a threshold that is set no longer grows with what is freed.
 */
export const MALLOC = { MALLOC_ARENA_MAX: "2", MALLOC_TRIM_THRESHOLD_: "131072" };
const SHOWN_LINES = 8;
const SEVERE = new Set(["error", "fatal"]);

/** What a printed line tells about a failure, if anything. @param {string} line */
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

/** The part of a process's output that says why it ended. @param {string} output */
export const explain = (output) => output.split("\n").flatMap(meaningOf).slice(-SHOWN_LINES).join("\n") || "it printed nothing";

/**
 * How long a process may take to stop before it is killed: longer than it takes by itself, so that what it is ending is ended.
 * @param {NodeJS.ProcessEnv} env the process's
 */
export const stopGraceMs = ({ SHUTDOWN_GRACE_MS, DRAIN_MS }) => Number(DRAIN_MS || 0) + Number(SHUTDOWN_GRACE_MS || OWN_GRACE_MS) + EXIT_MS;

/**
 * Starts a Node.js process and waits until it says over its message channel that it is ready.
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
