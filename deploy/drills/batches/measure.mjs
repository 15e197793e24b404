import { randomUUID } from "node:crypto";
import { readFile } from "node:fs/promises";
import { setTimeout as delay } from "node:timers/promises";
import { pidOf, readLocal } from "../support/platform.mjs";
import { seconds } from "../support/run-drill.mjs";
import { http, TEXT } from "./graphs.mjs";
import { createBatch, endedBatch, ROWS, rowsOf } from "./rows.mjs";

/**
 * Measures batches relative to separate runs of the same workflow, and their effect on another user.
 * @typedef {import("./rows.mjs").Caller} Caller
 */

const MAX_TEXT_MS = 15_000;
const MIN_RATIO = 0.9;
const MAX_SLOWDOWN = 2;
const MAX_GROWN_MEGABYTES = 48;
const ROUNDS = 3;
/** Half of the tier's places, as a batch uses. */
const AT_ONCE = 100;
const OTHERS_EVERY_MS = 500;
/** Batches beside whose start another user's run is timed. */
const NEW_BATCHES = 15;
const SAMPLE_MS = 10;
const MEGABYTE = 1024;

/** @param {number[]} values */
const median = (values) => [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;

/** @template T @param {() => Promise<T>} work @returns {Promise<{ ms: number, value: T }>} */
const timed = async (work) => {
  const from = performance.now();
  const value = await work();
  return { ms: performance.now() - from, value };
};

/** @param {Caller} caller @param {string} slug @param {number} index */
const run = async ({ api, key }, slug, index) => {
  const path = `/api/workflows/${slug}/run`;
  const { status, body } = await api.call("POST", path, {
    key,
    body: { inputs: { prompt: `row ${index}` } },
    idempotencyKey: randomUUID(),
  });
  if (status !== 200) throw new Error(`a run was answered ${status}: ${JSON.stringify(body)}`);
};

/** Runs the rows separately, with the batch's concurrency. @param {Caller} caller @param {string} slug */
const separately = async (caller, slug) => {
  let next = 0;
  const one = async () => {
    while (next < ROWS) await run(caller, slug, next++);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, one));
};

/** @param {Caller} caller @param {string} slug */
const asBatch = async (caller, slug) => {
  const batch = await endedBatch(caller, await createBatch(caller, slug, rowsOf("row")));
  if (batch.counts.completed !== ROWS)
    throw new Error(`a batch ended with ${JSON.stringify(batch.counts)}: ${JSON.stringify(batch.reason)}`);
  return batch.batchId;
};

/** Times another user's runs during some work. @param {Caller} other @param {string} slug @param {() => Promise<unknown>} work */
const watched = async (other, slug, work) => {
  /** @type {number[]} */
  const times = [];
  let isOver = false;
  const watching = (async () => {
    while (!isOver) {
      times.push((await timed(() => run(other, slug, 0))).ms);
      await delay(OTHERS_EVERY_MS);
    }
  })();
  await work().finally(() => (isOver = true));
  await watching;
  return times;
};

/** Times another user's runs right before and right after a batch is ordered. @param {{ caller: Caller, slug: string, other: Caller, others: string }} options */
const besideNewBatches = async ({ caller, slug, other, others }) => {
  /** @type {number[]} */
  const idle = [];
  /** @type {number[]} */
  const beside = [];
  for (let count = 0; count < NEW_BATCHES; count += 1) {
    idle.push((await timed(() => run(other, others, 0))).ms);
    const ordered = createBatch(caller, slug, rowsOf("row"));
    beside.push((await timed(() => run(other, others, 0))).ms);
    const batchId = await ordered;
    await caller.api.call("POST", `/api/batches/${batchId}/cancel`, { key: caller.key });
    await endedBatch(caller, batchId);
  }
  return { idle: median(idle), beside: median(beside) };
};

const gatewayMemory = async () =>
  Number(/^VmRSS:\s+(\d+)/m.exec(await readFile(`/proc/${pidOf("gateway")}/status`, "utf8"))?.[1]) / MEGABYTE;

/**
 * Downloads results as a file and measures the growth of the gateway's memory.
 * @param {Caller} caller @param {string} batchId @param {string} format
 */
const streamed = async ({ key }, batchId, format) => {
  const before = await gatewayMemory();
  let [most, bytes] = [before, 0];
  let isOver = false;
  const sampling = (async () => {
    for (; !isOver; await delay(SAMPLE_MS)) most = Math.max(most, await gatewayMemory());
  })();
  const answer = await fetch(`${readLocal().baseUrl}/api/batches/${batchId}/results?format=${format}`, { headers: { "x-api-key": key } });
  if (!answer.ok || !answer.body) throw new Error(`results were answered ${answer.status}`);
  for await (const piece of answer.body) bytes += piece.length;
  isOver = true;
  await sampling;
  return { grown: most - before, bytes };
};

/** @param {{ caller: Caller, other: Caller, target: string, say: (line: string) => void, check: import("../support/run-drill.mjs").Drill["check"] }} options */
export const measure = async ({ caller, other, target, say, check }) => {
  const text = await caller.api.save(caller.key, TEXT);
  const [slug, others] = [await caller.api.save(caller.key, http(target)), await other.api.save(other.key, http(target))];
  const warm = await timed(() => asBatch(caller, text));
  const { ms } = await timed(() => asBatch(caller, text));
  say(`${ROWS} rows of text: ${seconds(warm.ms)} s at first, then ${seconds(ms)} s`);
  check([`${ROWS} rows of text within ${seconds(MAX_TEXT_MS)} s`, ms <= MAX_TEXT_MS, `${seconds(ms)} s`]);

  let batchId = "";
  /** @type {number[]} */
  const ratios = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    const apart = await timed(() => separately(caller, slug));
    const together = await timed(async () => (batchId = await asBatch(caller, slug)));
    const times = await watched(other, others, () => asBatch(caller, slug));
    ratios.push(apart.ms / together.ms);
    say(
      `${ROWS} HTTP rows: ${seconds(together.ms)} s, separate runs ${seconds(apart.ms)} s; another user's run ${median(times).toFixed(0)} ms meanwhile`,
    );
  }
  const ratio = median(ratios);
  check([`${ROWS} HTTP rows at ${MIN_RATIO} of the throughput of separate runs`, ratio >= MIN_RATIO, ratio.toFixed(2)]);
  const { idle, beside } = await besideNewBatches({ caller, slug, other, others });
  check([
    "another user's run beside a new batch within twice its idle time",
    beside <= idle * MAX_SLOWDOWN,
    `${beside.toFixed(0)} ms, idle ${idle.toFixed(0)} ms`,
  ]);
  for (const format of ["jsonl", "csv"]) {
    await streamed(caller, batchId, format);
    const { grown, bytes } = await streamed(caller, batchId, format);
    const detail = `${grown.toFixed(0)} MB for ${(bytes / MEGABYTE / MEGABYTE).toFixed(1)} MB`;
    check([`results as ${format} stream without memory for all of them`, grown <= MAX_GROWN_MEGABYTES, detail]);
  }
};
