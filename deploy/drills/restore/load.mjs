import { randomUUID } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";

/**
 * Starts runs of every kind at a steady rate. Some end within a second, and some are in progress whenever a copy is made.
 * @typedef {{ executionId: string, isAsync: boolean, answered: boolean }} Started
 */

const PER_SECOND = Number(process.env.DRILL_PER_SECOND ?? 2);
const SECOND_MS = 1_000;

/** @param {number} seconds */
const takes = (seconds) => ({ latencyMs: seconds * SECOND_MS });
const KINDS = [
  { model: "sandbox-video", isAsync: true, inputs: { prompt: "a loom", seconds: 1, sandbox: takes(5) } },
  { model: "sandbox-image", isAsync: false, inputs: { prompt: "a loom", sandbox: takes(1) } },
  { model: "sandbox-video", isAsync: true, inputs: { prompt: "a loom", seconds: 1, sandbox: takes(25) } },
  { model: "sandbox-chat", isAsync: false, inputs: { prompt: "a loom", maxTokens: 20, sandbox: takes(3) } },
  { model: "sandbox-image", isAsync: true, inputs: { prompt: "a loom", sandbox: takes(2) } },
  { model: "sandbox-video", isAsync: true, isCancelled: true, inputs: { prompt: "a loom", seconds: 1, sandbox: takes(60) } },
];

/**
 * @param {{ api: ReturnType<typeof import("../support/api.mjs").createApi>, key: string }} options
 */
export const createLoad = ({ api, key }) => {
  let count = 0;
  let isOver = false;
  /** @type {Set<Promise<void>>} */
  const open = new Set();
  const one = async () => {
    const kind = /** @type {typeof KINDS[number]} */ (KINDS[(count += 1) % KINDS.length]);
    const path = `/api/models/${kind.model}/run${kind.isAsync ? "?async=true" : ""}`;
    const { status, body } = await api.call("POST", path, { key, body: { inputs: kind.inputs }, idempotencyKey: randomUUID() });
    if (status === 202 && kind.isCancelled) {
      await delay(SECOND_MS);
      await api.call("POST", `/api/executions/${body.executionId}/cancel`, { key });
    }
  };
  const loop = async () => {
    for (; !isOver; await delay(SECOND_MS / PER_SECOND)) {
      // Requests fail when the platform is deleted, which is expected.
      const pending = one().catch(() => {});
      open.add(pending);
      void pending.then(() => open.delete(pending));
    }
  };
  const looping = loop();
  return {
    count: () => count,
    /** Stops starting runs. Runs in progress continue. */
    end: async () => {
      isOver = true;
      await looping;
    },
  };
};
