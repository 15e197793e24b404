import { BATCH_ROWS } from "./load.mjs";

const FINAL = new Set(["completed", "failed", "cancelled"]);
const OURS = new Set(["SERVICE_UNAVAILABLE", "INTERNAL"]);
const POLL_MS = 1_000;

/** @param {readonly { creditsCost: number }[]} rows */
const milliOf = (rows) => rows.reduce((sum, { creditsCost }) => sum + Math.round(creditsCost * 1_000), 0);

/**
 * Checks after the faults.
 * @param {{ api: ReturnType<import("../support/api.mjs").createApi>, user: import("../support/api.mjs").User, load: Awaited<ReturnType<Awaited<ReturnType<typeof import("./load.mjs").createLoad>>["start"]>>, receiver: Awaited<ReturnType<import("../support/receiver.mjs").createReceiver>>, admin: { apiKey: string }, deadlineMs: number, more: [string, boolean, string][], say: (line: string) => void }} options
 */
export const verify = async ({ api, user, load: { outcomes, lost, batchIds }, receiver, admin, deadlineMs, more, say }) => {
  const end = Date.now() + deadlineMs;
  /** @param {string} id */
  const read = async (id) => (await api.call("GET", `/api/executions/${id}`, { key: user.key })).body;
  const pause = () => new Promise((resolve) => setTimeout(resolve, POLL_MS));

  // Accepted runs: answered with 200 or 202, or failed after the start.
  const accepted = outcomes.filter(
    ({ status, code, executionId }) => executionId && (status === 200 || status === 202 || (status === 500 && code !== "INTERNAL")),
  );
  const answers = new Map();
  for (const { status } of outcomes) answers.set(status, (answers.get(status) ?? 0) + 1);
  say(`answers: ${[...answers].map(([status, count]) => `${status} × ${count}`).join(", ")}`);

  const executions = new Map();
  for (const { executionId } of accepted) {
    let execution = await read(executionId);
    while (!FINAL.has(execution.status) && Date.now() < end) {
      await pause();
      execution = await read(executionId);
    }
    executions.set(executionId, execution);
  }
  // Providers can fail runs, as the sandbox does on request. The platform's own services must never fail one.
  const ours = [...executions.values()].filter(({ error }) => OURS.has(error?.code));
  const open = [...executions.values()].filter(({ status }) => !FINAL.has(status));

  const batches = [];
  for (const batchId of batchIds) {
    const batch = async () => (await api.call("GET", `/api/batches/${batchId}?limit=${BATCH_ROWS}`, { key: user.key })).body;
    let current = await batch();
    for (; !FINAL.has(current.status) && Date.now() < end; current = await batch()) await pause();
    batches.push(current);
  }
  const items = batches.flatMap((batch) => batch.rows);
  const inBatches = milliOf(batches);

  const usage = async () => {
    const rows = [];
    for (let offset = 0; ; offset += 500) {
      const { body } = await api.call("GET", `/api/usage?limit=500&offset=${offset}`, { key: user.key });
      rows.push(...body.rows);
      if (body.rows.length < 500) return rows;
    }
  };
  const isOpen = (/** @type {any} */ { status }) => status === "processing";
  let rows = await usage();
  // A run is final before its row of usage is, if the row's update has to be relayed.
  for (; rows.some(isOpen) && Date.now() < end; rows = await usage()) await pause();
  const slugs = new Set(outcomes.map(({ slug }) => slug));
  const mine = rows.filter(({ workflowSlug }) => slugs.has(workflowSlug));
  const listed = [];
  for (let cursor = ""; ;) {
    const { body } = await api.call("GET", `/api/executions?limit=100${cursor ? `&cursor=${cursor}` : ""}`, { key: user.key });
    listed.push(...body.rows.filter((/** @type {any} */ row) => slugs.has(row.workflowSlug)));
    if (!body.nextCursor) break;
    cursor = body.nextCursor;
  }
  const ids = new Set(items.map(({ executionId }) => executionId));
  const itemRows = rows.filter(({ executionId }) => ids.has(executionId));
  const charged = milliOf(mine);
  const receipts = milliOf(listed);
  const ledger = (await api.call("GET", "/api/admin/ledger/check", { key: admin.apiKey })).body;
  const { body: budget } = await api.call("GET", `/api/keys/${user.keyId}/budget`, { cookie: user.cookie });
  const budgeted = Math.round(budget.used * 1_000);
  const { body: me } = await api.call("GET", "/api/me", { cookie: user.cookie });

  const wantsWebhook = accepted.filter(({ status, isAsync }) => isAsync && status === 202).map(({ executionId }) => executionId);
  const delivered = () => new Set(receiver.received.map(({ id }) => id.slice("msg_".length)));
  while (wantsWebhook.some((id) => !delivered().has(id)) && Date.now() < end) await pause();
  const missing = wantsWebhook.filter((id) => !delivered().has(id));
  const unsigned = receiver.received.filter((delivery) => !receiver.isSigned(delivery, user.webhookSecret));

  /** @type {[string, boolean, string][]} */
  const checks = [
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
    ["the ledger's invariants hold", ledger.ok === true, JSON.stringify(ledger.mismatches)],
    ["nothing is held any more", me.credits.held === 0, `${me.credits.held} credits`],
    ["no webhook was lost", missing.length === 0, `${missing.length} of ${wantsWebhook.length} missing`],
    ...more,
    ["no webhook is unsigned", unsigned.length === 0, `${receiver.received.length} deliveries`],
  ];
  const statuses = new Map();
  for (const { status } of executions.values()) statuses.set(status, (statuses.get(status) ?? 0) + 1);
  say(`executions: ${[...statuses].map(([status, count]) => `${status} × ${count}`).join(", ")}`);
  for (const [name, ok, detail] of checks) say(`${ok ? "ok    " : "FAILED"}  ${name}: ${detail}`);
  return checks.every(([, ok]) => ok);
};
