import { startChild } from "../servers/child.mjs";

const READY_DEADLINE_MS = 60_000;
const STOP_GRACE_MS = 20_000;
const SHOWN_LINES = 8;

/** @param {string} text */
const lastLines = (text) => text.trim().split("\n").slice(-SHOWN_LINES).join("\n");

/**
 * Starts a Node.js process and waits until it says over its message channel that it is ready.
 * @param {{ name: string, args: readonly string[], env: NodeJS.ProcessEnv, output: (chunk: Buffer) => void }} options
 * @returns {Promise<import("../supervisor.mjs").Launched>}
 */
export const launchNodeProcess = async ({ name, args, env, output }) => {
  const child = await startChild({ command: process.execPath, args, env, ipc: true, output });
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
    throw new Error(`${name} ${why}:\n${lastLines(child.tail())}`);
  }
  return { pid: child.pid, exited: child.exited, stop: () => child.stop(STOP_GRACE_MS) };
};
