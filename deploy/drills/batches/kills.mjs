import { setTimeout as delay } from "node:timers/promises";
import { killProcess } from "../support/faults.mjs";
import { creditChecks, milliOf, untilSettled, usageRows } from "../support/invariants.mjs";
import { IMAGE } from "./graphs.mjs";
import { allRows, createBatch, endedBatch, ROWS, rowsOf } from "./rows.mjs";

/** Services to kill in turn while a batch runs. */
const VICTIMS = ["executions", "temporal", "executions", "temporal", "executions"];
const EVERY_MS = 6_000;
const SETTLE_MS = 60_000;

/**
 * Kills the services that run a batch. Each row must end once, and the total cost must be exact.
 * @param {{ caller: import("./rows.mjs").Caller, cookie: string, adminKey: string, say: (line: string) => void, check:
 *   import("../support/run-drill.mjs").Drill["check"] }} options
 */
export const kill = async ({ caller, cookie, adminKey, say, check }) => {
  const { api } = caller;
  const slug = await api.save(caller.key, IMAGE);
  const batchId = await createBatch(caller, slug, rowsOf("loom"));
  const ending = endedBatch(caller, batchId);
  ending.catch(() => undefined);
  for (const name of VICTIMS) {
    await delay(EVERY_MS);
    const { counts } = (await api.call("GET", `/api/batches/${batchId}?limit=1`, { key: caller.key })).body;
    say(`${counts.completed} rows are completed, ${counts.processing} under way`);
    await killProcess(name, say);
  }
  const batch = await ending;
  const rows = await allRows(caller, batchId);
  await untilSettled(api, { key: caller.key, cookie }, SETTLE_MS);
  const usage = (await usageRows(api, caller.key)).filter(({ workflowSlug }) => workflowSlug === slug);
  const { completed, failed } = batch.counts;
  const sums = [milliOf([batch]), milliOf(rows), milliOf(usage)];
  check(
    ["every row is final", completed + failed === ROWS && batch.status === "completed", `${batch.status}, ${JSON.stringify(batch.counts)}`],
    ["no row failed for what was killed", failed === 0, `${failed} of ${ROWS}`],
    [
      "every row ran once",
      new Set(usage.map(({ executionId }) => executionId)).size === ROWS && usage.length === ROWS,
      `${usage.length} usage rows`,
    ],
    ["batch, rows and usage say the same sum", new Set(sums).size === 1, `${sums.join(", ")} milli-credits`],
    ...(await creditChecks(api, adminKey, cookie)),
  );
};
