import { creditChecks, deliveredIds, everyPage, FINAL, milliOf, read, untilSettled, usageRows } from "../support/invariants.mjs";
import { pause } from "../support/platform.mjs";
import { BATCH_ROWS } from "./load.mjs";

const OURS = new Set(["SERVICE_UNAVAILABLE", "INTERNAL"]);
const POLL_MS = 1_000;

/**
 * Checks after the faults.
 * @param {{ api: ReturnType<import("../support/api.mjs").createApi>, user: import("../support/api.mjs").User, load: Awaited<ReturnType<Awaited<ReturnType<typeof import("./load.mjs").createLoad>>["start"]>>, receiver: Awaited<ReturnType<import("../support/receiver.mjs").createReceiver>>, adminKey: string, deadlineMs: number, say: (line: string) => void }} options @returns {Promise<import("../support/run-drill.mjs").Check[]>}
 */
export const checksAfter = async ({ api, user, load: { outcomes, lost, batchIds }, receiver, adminKey, deadlineMs, say }) => {
  const end = Date.now() + deadlineMs;
  // Accepted runs: answered with 200 or 202, or failed after the start.
  const accepted = outcomes.filter(
    ({ status, code, executionId }) => executionId && (status === 200 || status === 202 || (status === 500 && code !== "INTERNAL")),
  );
  const answers = new Map();
  for (const { status } of outcomes) answers.set(status, (answers.get(status) ?? 0) + 1);
  say(`answers: ${[...answers].map(([status, count]) => `${status} × ${count}`).join(", ")}`);

  const caller = { key: user.key };
  const batches = [];
  for (const batchId of batchIds) {
    const batch = () => read(api, `/api/batches/${batchId}?limit=${BATCH_ROWS}`, caller);
    let current = await batch();
    for (; !FINAL.has(current.status) && Date.now() < end; current = await batch()) await pause(POLL_MS);
    batches.push(current);
  }
  const items = batches.flatMap((batch) => batch.rows);
  const inBatches = milliOf(batches);

  await untilSettled(api, user, end - Date.now());
  const executions = new Map();
  for (const { executionId } of accepted) executions.set(executionId, await read(api, `/api/executions/${executionId}`, caller));
  // Providers can fail runs, as the sandbox does on request. The platform's own services must never fail one.
  const ours = [...executions.values()].filter(({ error }) => OURS.has(error?.code));
  const open = [...executions.values()].filter(({ status }) => !FINAL.has(status));

  const rows = await usageRows(api, user.key);
  const slugs = new Set(outcomes.map(({ slug }) => slug));
  const mine = rows.filter(({ workflowSlug }) => slugs.has(workflowSlug));
  const listed = (await everyPage(api, "/api/executions?limit=100", caller)).filter(({ workflowSlug }) => slugs.has(workflowSlug));
  const ids = new Set(items.map(({ executionId }) => executionId));
  const itemRows = rows.filter(({ executionId }) => ids.has(executionId));
  const charged = milliOf(mine);
  const receipts = milliOf(listed);
  const budget = await read(api, `/api/keys/${user.keyId}/budget`, { cookie: user.cookie });
  const budgeted = Math.round(budget.used * 1_000);

  const wantsWebhook = accepted.filter(({ status, isAsync }) => isAsync && status === 202).map(({ executionId }) => executionId);
  const undelivered = () => wantsWebhook.filter((id) => !deliveredIds(receiver).has(id));
  while (undelivered().length > 0 && Date.now() < end) await pause(POLL_MS);
  const missing = undelivered();
  const unsigned = receiver.received.filter((delivery) => !receiver.isSigned(delivery, user.webhookSecret));

  const statuses = new Map();
  for (const { status } of executions.values()) statuses.set(status, (statuses.get(status) ?? 0) + 1);
  say(`executions: ${[...statuses].map(([status, count]) => `${status} × ${count}`).join(", ")}`);
  return [
    [
      "every accepted run is final",
      open.length === 0,
      `${executions.size - open.length} of ${executions.size}; open: ${open.slice(0, 3).map((one) => `${one.executionId} ${one.status}`)}`,
    ],
    [
      "no run failed for want of a service of ours",
      ours.length === 0,
      ours.length === 0
        ? `${executions.size} runs`
        : ours
            .slice(0, 3)
            .map(({ executionId, error }) => `${executionId} ${error.message}`)
            .join("; "),
    ],
    ["every request was answered", outcomes.length > 0 && lost === 0, `${outcomes.length} answers, ${lost} lost`],
    [
      "every batch is over, with all of its rows",
      batches.every(({ status, counts }) => status === "completed" && counts.completed + counts.failed === BATCH_ROWS),
      batches.map(({ status, counts }) => `${status} ${JSON.stringify(counts)}`).join("; "),
    ],
    [
      "every row of a batch ran once",
      itemRows.length === items.length && new Set(itemRows.map(({ executionId }) => executionId)).size === items.length,
      `${itemRows.length} rows, ${items.length} items`,
    ],
    [
      "batches and usage agree to the milli-credit",
      inBatches === milliOf(itemRows) && inBatches === milliOf(items),
      `${inBatches}, ${milliOf(itemRows)} and ${milliOf(items)}`,
    ],
    ["exactly one usage row for each execution", mine.length === listed.length, `${mine.length} rows, ${listed.length} executions`],
    [
      "no usage row is still open",
      mine.every(({ status }) => status !== "processing"),
      `${mine.filter(({ status }) => status === "processing").length} open`,
    ],
    ["usage and executions agree to the milli-credit", charged === receipts, `${charged} and ${receipts}`],
    [
      "the key's budget has counted what was charged, batches included, to the milli-credit",
      budgeted === receipts + inBatches,
      `${budgeted} and ${receipts + inBatches}`,
    ],
    ...(await creditChecks(api, adminKey, user.cookie)),
    ["no webhook was lost", missing.length === 0, `${missing.length} of ${wantsWebhook.length} missing`],
    ["no webhook is unsigned", unsigned.length === 0, `${receiver.received.length} deliveries`],
  ];
};
