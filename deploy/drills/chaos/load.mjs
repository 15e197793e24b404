import { randomUUID } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import { KINDS, STORY } from "./graphs.mjs";

/** @typedef {{ executionId: string, status: number, code: string | null, slug: string, isAsync: boolean }} Outcome */

const SPREAD_MS = 75_000;
const WAIT_MS = 240_000;
const LOOK_MS = 1_000;
export const BATCH_ROWS = 40;
const APPROVAL = "ask";

/**
 * Starts runs of every kind, spread over the time of the faults, and two batches: one with the first runs, one after half of the time.
 * @param {{ api: ReturnType<import("../support/api.mjs").createApi>, user: import("../support/api.mjs").User, runs: number, say: (line:
 *   string) => void, spreadMs?: number }} options
 */
export const createLoad = async ({ api, user: { key }, runs, say, spreadMs = SPREAD_MS }) => {
  /** @type {(typeof KINDS[number] & { slug: string })[]} */
  const kinds = [];
  for (const kind of KINDS) kinds.push({ ...kind, slug: await api.save(key, kind.graph) });
  const batchSlug = await api.save(key, STORY);

  /** @param {string} path @param {object} body @param {{ slug: string, isAsync: boolean }} kind @returns {Promise<Outcome>} */
  const begin = async (path, body, { slug, isAsync }) => {
    const answer = await api.call("POST", path, {
      key,
      body,
      idempotencyKey: randomUUID(),
      ...(isAsync ? { prefer: "respond-async" } : {}),
    });
    const executionId = answer.body?.executionId ?? answer.headers.get("x-execution-id");
    return { executionId, status: answer.status, code: answer.body?.code ?? null, slug, isAsync };
  };

  /** Approves a run when it waits; a failed run stays failed. @param {string} id */
  const approve = async (id) => {
    for (const end = Date.now() + WAIT_MS; Date.now() < end; await delay(LOOK_MS)) {
      const { body } = await api.call("GET", `/api/executions/${id}`, { key });
      if (body.status !== "processing") return;
      if (body.waitingFor === undefined) continue;
      const decided = await api.call("POST", `/api/executions/${id}/decisions`, { key, body: { nodeId: APPROVAL, decision: "approve" } });
      // The request is repeated after a 503, which can follow a decision that was stored.
      const isStored = decided.body.code === "NOT_WAITING" && decided.body.decision === "approve";
      if (decided.status !== 200 && !isStored)
        throw new Error(`a decision was answered ${decided.status}: ${JSON.stringify(decided.body)}`);
      return;
    }
    throw new Error(`${id} did not come to its approval`);
  };

  /** @param {number} index @returns {Promise<Outcome[]>} */
  const one = async (index) => {
    await delay((index / runs) * spreadMs);
    const kind = /** @type {typeof kinds[number]} */ (kinds[index % kinds.length]);
    const first = await begin(`/api/workflows/${kind.slug}/run`, { inputs: {} }, kind);
    const { executionId, status } = first;
    if (kind.then === "cancel" && status === 202) await api.call("POST", `/api/executions/${executionId}/cancel`, { key });
    if (kind.then === "approve" && status === 202) await approve(executionId);
    if (kind.then !== "rerun" || status !== 200) return [first];
    return [first, await begin(`/api/executions/${executionId}/rerun`, { inputs: { prompt: "another ending" } }, kind)];
  };

  /** @param {number} afterMs @returns {Promise<string>} id of the batch */
  const batch = async (afterMs) => {
    await delay(afterMs);
    const inputs = Array.from({ length: BATCH_ROWS }, (_, row) => ({ prompt: `row ${row}` }));
    const answer = await api.call("POST", `/api/workflows/${batchSlug}/batches`, { key, body: { inputs }, idempotencyKey: randomUUID() });
    if (answer.status !== 202) throw new Error(`a batch was answered ${answer.status}: ${JSON.stringify(answer.body)}`);
    return answer.body.batchId;
  };

  return {
    start: async () => {
      const batching = Promise.all([0, spreadMs / 2].map(batch));
      const settled = await Promise.allSettled(Array.from({ length: runs }, (_, index) => one(index)));
      const rejected = settled.filter((result) => result.status === "rejected");
      for (const result of rejected.slice(0, 5)) say(`no answer: ${result.reason}`);
      const outcomes = settled.flatMap((result) => (result.status === "fulfilled" ? result.value : []));
      return { outcomes, lost: rejected.length, batchIds: await batching };
    },
  };
};
