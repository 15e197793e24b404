import { setTimeout as delay } from "node:timers/promises";
import { createConnection } from "./http.mjs";

/**
 * Client load during restarts: requests at a steady rate over persistent connections, synchronous runs, and event streams of asynchronous
 * runs. Every request is sent once; any unexpected response is a failure.
 * @typedef {{ at: number, kind: string, what: string }} Failure
 * @typedef {{ baseUrl: string, key: string, cookie: string, mediaPath: string, slug: string }} Target
 * @typedef {{ kind: string, path: string, cookie?: string }} Read
 */

const CONNECTIONS = 20;
const SYNC_RUNS = 20;
const STREAMS = 8;
const SECOND_MS = 1_000;
const OK = 200;
const ACCEPTED = 202;
/** Latencies of the sandbox, so long that most responses are pending when a process is stopped. */
const SYNC_LATENCIES_MS = [8_000, 12_000, 18_000, 27_000];
const STREAMED_LATENCY_MS = 20_000;
const LAST_EVENT = /^event: settled$/m;

/** One read of each service. @param {Target} target @returns {Read[]} */
export const readsOf = ({ mediaPath, slug, cookie }) => [
  { kind: "identity", path: "/api/whoami" },
  { kind: "models", path: "/api/models" },
  { kind: "workflows", path: `/api/workflows/${slug}` },
  { kind: "billing", path: "/api/me/ledger?limit=5", cookie },
  { kind: "usage", path: "/api/usage?limit=5" },
  { kind: "executions", path: "/api/executions?limit=5" },
  { kind: "media", path: mediaPath },
];

/** @param {unknown} error */
const nameOf = (error) => {
  const { code, message } = /** @type {{ code?: string, message?: string }} */ (error);
  return code ?? message ?? String(error);
};

/** @param {Target} target */
export const createLoad = (target) => {
  /** @type {Failure[]} */
  const failures = [];
  /** @type {Map<string, number>} */
  const answered = new Map();
  let isOver = false;
  const reads = readsOf(target);

  /** @param {string} kind */
  const count = (kind) => answered.set(kind, (answered.get(kind) ?? 0) + 1);
  /** @param {string} kind @param {string} what */
  const fail = (kind, what) => failures.push({ at: Date.now(), kind, what });

  /** @param {ReturnType<typeof createConnection>} connection @param {number} turn */
  const readOnce = async (connection, turn) => {
    const { kind, ...options } = /** @type {Read} */ (reads[turn % reads.length]);
    try {
      const { status, body } = await connection.send(options);
      if (status === OK) count(kind);
      else fail(kind, `${status} ${body.slice(0, 200)}`);
    } catch (error) {
      fail(kind, nameOf(error));
    }
  };

  /** @param {number} number @param {number} everyMs 0 to send the next request after each response */
  const reader = async (number, everyMs) => {
    const connection = createConnection(target);
    let next = Date.now() + Math.random() * everyMs;
    for (let turn = number; !isOver; turn += 1) {
      await readOnce(connection, turn);
      next = Math.max(next + everyMs, Date.now() - everyMs);
      if (everyMs > 0) await delay(Math.max(0, next - Date.now()));
    }
    connection.close();
  };

  /** @param {number} number */
  const syncRunner = async (number) => {
    const connection = createConnection(target);
    await delay(Math.random() * 4 * SECOND_MS);
    for (let turn = number; !isOver; turn += 1) {
      const latencyMs = SYNC_LATENCIES_MS[turn % SYNC_LATENCIES_MS.length];
      const body = { inputs: { prompt: "a loom", maxTokens: 20, sandbox: { latencyMs } } };
      try {
        const { status, body: answer } = await connection.send({ method: "POST", path: "/api/models/sandbox-chat/run", body });
        // A stopping gateway redirects clients to a run that continues.
        if (status === OK || status === ACCEPTED) count(status === OK ? "sync runs" : "sync runs answered 202");
        else fail("sync runs", `${status} ${answer.slice(0, 200)}`);
      } catch (error) {
        fail("sync runs", nameOf(error));
      }
    }
    connection.close();
  };

  /** Follows one run to its end and reconnects after each stream. @param {ReturnType<typeof createConnection>} connection */
  const followOne = async (connection) => {
    const body = { inputs: { prompt: "a loom", seconds: 1, sandbox: { latencyMs: STREAMED_LATENCY_MS } } };
    const submitted = await connection.send({ method: "POST", path: "/api/models/sandbox-video/run?async=true", body });
    if (submitted.status !== ACCEPTED) return fail("event streams", `submit: ${submitted.status} ${submitted.body.slice(0, 200)}`);
    const { executionId } = JSON.parse(submitted.body);
    let last = 0;
    for (;;) {
      const answer = await connection.send({ path: `/api/executions/${executionId}/events`, headers: { "last-event-id": String(last) } });
      if (answer.status !== OK) return fail("event streams", `${answer.status} ${answer.body.slice(0, 200)}`);
      const ids = [...answer.body.matchAll(/^id: (\d+)$/gm)].map(([, id]) => Number(id));
      if (ids.some((id, index) => id !== last + index + 1)) return fail("event streams", `events ${ids.join(", ")} after ${last}`);
      last = ids.at(-1) ?? last;
      if (LAST_EVENT.test(answer.body)) return count("event streams");
      count("event streams resumed");
    }
  };

  const streamer = async () => {
    const connection = createConnection(target);
    await delay(Math.random() * 4 * SECOND_MS);
    while (!isOver) await followOne(connection).catch((error) => fail("event streams", nameOf(error)));
    connection.close();
  };

  /** @param {number} perSecond */
  const start = (perSecond) => {
    const everyMs = (CONNECTIONS / perSecond) * SECOND_MS;
    const all = [
      ...Array.from({ length: CONNECTIONS }, (_, number) => reader(number, everyMs)),
      ...Array.from({ length: SYNC_RUNS }, (_, number) => syncRunner(number)),
      ...Array.from({ length: STREAMS }, streamer),
    ];
    return async () => {
      isOver = true;
      await Promise.all(all);
    };
  };

  /** Measures reads per second without a fixed rate. @param {number} forMs @returns {Promise<number>} */
  const measureCapacity = async (forMs) => {
    const from = Date.now();
    const all = Array.from({ length: CONNECTIONS }, (_, number) => reader(number, 0));
    await delay(forMs);
    isOver = true;
    await Promise.all(all);
    isOver = false;
    const total = [...answered.values()].reduce((sum, each) => sum + each, 0);
    answered.clear();
    return (total * SECOND_MS) / (Date.now() - from);
  };
  return { start, measureCapacity, failures, answered };
};
