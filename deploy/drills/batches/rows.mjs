import { randomUUID } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import { everyPage } from "../support/invariants.mjs";

/** @typedef {{ api: ReturnType<typeof import("../support/api.mjs").createApi>, key: string }} Caller */

/** Maximum number of rows in a batch. */
export const ROWS = 1_000;
const OVER = new Set(["completed", "failed", "cancelled", "paused"]);
const LOOK_MS = 200;
const END_MS = 480_000;

/** @param {string} name */
export const rowsOf = (name) => Array.from({ length: ROWS }, (_, index) => ({ prompt: `${name} ${index}` }));

/** @param {Caller} caller @param {string} slug @param {object[]} inputs @returns {Promise<string>} id of the new batch */
export const createBatch = async ({ api, key }, slug, inputs) => {
  const options = { key, body: { inputs }, idempotencyKey: randomUUID() };
  const { status, body } = await api.call("POST", `/api/workflows/${slug}/batches`, options);
  if (status !== 202) throw new Error(`a batch was answered ${status}: ${JSON.stringify(body)}`);
  return body.batchId;
};

/** Waits until a batch has no running rows. @param {Caller} caller @param {string} batchId */
export const endedBatch = async ({ api, key }, batchId) => {
  for (const end = Date.now() + END_MS; Date.now() < end; await delay(LOOK_MS)) {
    const { body } = await api.call("GET", `/api/batches/${batchId}?limit=1`, { key });
    if (OVER.has(body.status)) return body;
  }
  throw new Error(`the batch ${batchId} did not end`);
};

/** @param {Caller} caller @param {string} batchId @returns {Promise<any[]>} */
export const allRows = ({ api, key }, batchId) => everyPage(api, `/api/batches/${batchId}?limit=100`, { key });
