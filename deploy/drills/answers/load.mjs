import { randomUUID } from "node:crypto";
import { pause } from "../support/platform.mjs";

/**
 * Sends each request once, without retries, and stores the response for comparison with its run.
 * @typedef {{ key: string, sentAt: number, answeredAt: number, status: number, code: string | null, executionId: string | null, isUnknown:
 *   boolean }} Answered status 0: no response arrived
 */

const PARALLEL = 40;
/** Number of keys that several requests share at a time, and number of requests per key. */
const SHARED_KEYS = 8;
const USES_OF_SHARED = 12;
const TIMEOUT_MS = 200_000;
const PAUSE_MS = 100;
const AWAY_MS = 1_000;

const sandbox = (/** @type {number} */ latencyMs) => ({ latencyMs });
/** Kinds of requests. A key always sends the same kind. */
const KINDS = [
  { path: "sandbox-image/run?async=true", inputs: { prompt: "a loom", sandbox: sandbox(500) } },
  { path: "sandbox-chat/run", inputs: { prompt: "a loom", maxTokens: 20, sandbox: sandbox(200) } },
  { path: "sandbox-video/run?async=true", inputs: { prompt: "a loom", seconds: 1, sandbox: sandbox(1_500) } },
  { path: "sandbox-speech/run", inputs: { prompt: "a loom" } },
  { path: "sandbox-image-fast/run", inputs: { prompt: "a loom", sandbox: sandbox(300) } },
  // Both are rejected: no model accepts this count, or the run would exceed its limit.
  { path: "sandbox-image/run", inputs: { prompt: "a loom", count: 99 } },
  { path: "sandbox-video/run", inputs: { prompt: "a loom", seconds: 5 }, maxCredits: 0.001 },
];

const kindOf = (/** @type {string} */ key) => KINDS[parseInt(key.slice(0, 8), 16) % KINDS.length] ?? KINDS[0];

/**
 * Sends requests in parallel, with shared and unique keys, through several gateways in turn.
 * @param {{ gateways: readonly string[], apiKey: string }} options
 */
export const createAnswerLoad = ({ gateways, apiKey }) => {
  /** @type {Answered[]} */
  const answered = [];
  let isOver = false;

  const shared = Array.from({ length: SHARED_KEYS }, () => ({ key: randomUUID(), left: USES_OF_SHARED }));
  /** Every other request has its own key. */
  const nextKey = (/** @type {number} */ turn) => {
    if (turn % 2 === 0) return randomUUID();
    const place = turn % SHARED_KEYS;
    const slot = /** @type {{ key: string, left: number }} */ (shared[place]);
    if ((slot.left -= 1) === 0) shared[place] = { key: randomUUID(), left: USES_OF_SHARED };
    return slot.key;
  };

  const send = async (/** @type {number} */ turn) => {
    const key = nextKey(turn);
    const { path, ...body } = /** @type {typeof KINDS[number]} */ (kindOf(key));
    const sentAt = Date.now();
    const answer = await fetch(`${gateways[turn % gateways.length]}/api/models/${path}`, {
      method: "POST",
      headers: { "content-type": "application/json", "x-api-key": apiKey, "idempotency-key": key },
      body: JSON.stringify({ ...body, metadata: { chaos: key } }),
      signal: AbortSignal.timeout(TIMEOUT_MS),
    })
      .then(async (response) => ({ status: response.status, body: /** @type {any} */ (await response.json()) }))
      .catch((error) => ({ status: 0, body: { code: error.cause?.code ?? error.name } }));
    const { code = null, executionId = null, outcome } = answer.body;
    // After a failed request, waits before the next one to an unreachable gateway.
    if (answer.status === 0) await pause(AWAY_MS);
    answered.push({ key, sentAt, answeredAt: Date.now(), status: answer.status, code, executionId, isUnknown: outcome === "unknown" });
  };

  let turns = 0;
  const worker = async () => {
    while (!isOver) {
      await send((turns += 1));
      await pause(PAUSE_MS);
    }
  };
  const workers = Array.from({ length: PARALLEL }, worker);
  return {
    /** Stops sending and waits for the responses. */
    end: async () => {
      isOver = true;
      await Promise.all(workers);
      return answered;
    },
  };
};
