import { setTimeout as delay } from "node:timers/promises";
import { pidOf } from "../support/platform.mjs";
import { IMAGE } from "./graphs.mjs";
import { allRows, createBatch, endedBatch, ROWS, rowsOf, save } from "./rows.mjs";

/** Services to kill in turn while a batch runs. */
const VICTIMS = ["executions", "temporal", "executions", "temporal", "executions"];
const EVERY_MS = 6_000;
const MILLI = 1_000;
const PAGE = 500;

/** @param {readonly { creditsCost: number }[]} rows */
const milliOf = (rows) => rows.reduce((sum, { creditsCost }) => sum + Math.round(creditsCost * MILLI), 0);

/** @param {import("./rows.mjs").Caller} caller @param {string} slug */
const usageOf = async ({ api, key }, slug) => {
  const rows = [];
  for (let offset = 0; ; offset += PAGE) {
    const { body } = await api.call("GET", `/api/usage?limit=${PAGE}&offset=${offset}`, { key });
    rows.push(...body.rows.filter((/** @type {any} */ { workflowSlug }) => workflowSlug === slug));
    if (body.rows.length < PAGE) return rows;
  }
};

/**
 * Kills the services that run a batch. Each row must end once, and the total cost must be exact.
 * @param {{ caller: import("./rows.mjs").Caller, cookie: string, adminKey: string, say: (line: string) => void, check:
 *   import("../support/run-drill.mjs").Drill["check"] }} options
 */
export const kill = async ({ caller, cookie, adminKey, say, check }) => {
  const { api } = caller;
  const slug = await save(caller, IMAGE);
  const batchId = await createBatch(caller, slug, rowsOf("loom"));
  const ending = endedBatch(caller, batchId);
  ending.catch(() => undefined);
  for (const name of VICTIMS) {
    await delay(EVERY_MS);
    const { counts } = (await api.call("GET", `/api/batches/${batchId}?limit=1`, { key: caller.key })).body;
    const pid = pidOf(name);
    process.kill(pid, "SIGKILL");
    say(`SIGKILL ${name} (${pid}); ${counts.completed} rows are completed, ${counts.processing} under way`);
  }
  const batch = await ending;
  const rows = await allRows(caller, batchId);
  const usage = await usageOf(caller, slug);
  const ledger = (await api.call("GET", "/api/admin/ledger/check?full=true", { key: adminKey })).body;
  const { held } = (await api.call("GET", "/api/me", { cookie })).body.credits;
  const { completed, failed } = batch.counts;
  const sums = [Math.round(batch.creditsCost * MILLI), milliOf(rows), milliOf(usage)];
  check(
    ["every row is final", completed + failed === ROWS && batch.status === "completed", `${batch.status}, ${JSON.stringify(batch.counts)}`],
    ["no row failed for what was killed", failed === 0, `${failed} of ${ROWS}`],
    [
      "every row ran once",
      new Set(usage.map(({ executionId }) => executionId)).size === ROWS && usage.length === ROWS,
      `${usage.length} usage rows`,
    ],
    ["batch, rows and usage say the same sum", new Set(sums).size === 1, `${sums.join(", ")} milli-credits`],
    ["the ledger's invariants hold", ledger.ok === true, JSON.stringify(ledger.mismatches)],
    ["nothing is held any more", held === 0, `${held} credits`],
  );
};
