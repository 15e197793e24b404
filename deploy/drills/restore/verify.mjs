import { setTimeout as delay } from "node:timers/promises";

/**
 * Checks of a restored platform.
 * @typedef {ReturnType<typeof import("../support/api.mjs").createApi>} Api
 * @typedef {Awaited<ReturnType<typeof import("../support/receiver.mjs").createReceiver>>} Receiver
 * @typedef {{ api: Api, baseUrl: string, key: string, cookie: string, adminKey: string, receiver: Receiver, loadedFromMs: number, filesUntilMs: number, deadlineMs: number, reconcile: () => Promise<void> }} Options
 * @typedef {[name: string, ok: boolean, detail: string][]} Checks
 */

const FINAL = new Set(["completed", "failed", "cancelled"]);
const LOOK_MS = 3_000;
const MILLI = 1_000;
const OK = 200;

/** Reads all pages of a list. @param {(cursor: string) => Promise<any>} readPage */
const everyPage = async (readPage) => {
  const rows = [];
  for (let cursor = ""; ;) {
    const page = await readPage(cursor);
    rows.push(...page.rows);
    if (!page.nextCursor) return rows;
    cursor = page.nextCursor;
  }
};

/** @param {string} path @param {string} cursor */
const paged = (path, cursor) => `${path}${cursor === "" ? "" : `&cursor=${encodeURIComponent(cursor)}`}`;

/** @param {Options} options @param {number} [fromMs] omits pages with only older executions */
const readExecutions = ({ api, key }, fromMs = 0) =>
  everyPage(async (cursor) => {
    const { body } = await api.call("GET", paged("/api/executions?limit=100", cursor), { key });
    return Date.parse(body.rows.at(-1)?.createdAt) < fromMs ? { rows: body.rows } : body;
  });

/** @param {Options} options */
const readAll = async (options) => {
  const { api, key, cookie } = options;
  const executions = await readExecutions(options);
  const ledger = await everyPage(async (cursor) => (await api.call("GET", paged("/api/me/ledger?limit=200", cursor), { cookie })).body);
  const usage = [];
  for (let offset = 0; ; offset += 500) {
    const { body } = await api.call("GET", `/api/usage?limit=500&offset=${offset}`, { key });
    usage.push(...body.rows);
    if (body.rows.length < 500) break;
  }
  const { body: me } = await api.call("GET", "/api/me", { cookie });
  return { executions, ledger, usage, me };
};

/** @param {readonly { creditsCost?: number }[]} rows */
const milliOf = (rows) => rows.reduce((sum, { creditsCost = 0 }) => sum + Math.round(creditsCost * MILLI), 0);

/** Webhooks that weren't received. @param {any[]} executions @param {Receiver} receiver */
const untold = (executions, receiver) => {
  const deliveredIds = new Set(receiver.received.map(({ id }) => id.slice("msg_".length)));
  // Synchronous runs have no webhook.
  return executions.filter(({ executionId, webhookDelivery }) => webhookDelivery?.configured === true && !deliveredIds.has(executionId));
};

/**
 * Waits until every run has ended, every webhook was received and every usage row is closed. Triggers reconciliation meanwhile.
 * @param {Options} options
 */
const settled = async (options) => {
  const { api, key, cookie, receiver, loadedFromMs } = options;
  for (const end = Date.now() + options.deadlineMs; ; await delay(LOOK_MS)) {
    const executions = await readExecutions(options, loadedFromMs);
    const open = executions.filter(({ status }) => !FINAL.has(status));
    const missing = untold(executions, receiver);
    const { body: me } = await api.call("GET", "/api/me", { cookie });
    const { body: usage } = await api.call("GET", "/api/usage?status=processing&limit=1", { key });
    const isSettled = open.length === 0 && missing.length === 0 && me.credits.held === 0 && usage.rows.length === 0;
    if (isSettled || Date.now() > end) return { ...(await readAll(options)), open, missing };
    await options.reconcile().catch(() => {});
  }
};

/** All files in completed results. @param {any[]} executions */
const filesOf = (executions) => [...new Set(JSON.stringify(executions).match(/\/media\/[\w./-]+/g) ?? [])];

/**
 * Finds unreadable files. MongoDB's copy lacks files stored later: if Temporal's copy is newer, a run can have created them before the
 * loss, and names them when it continues.
 * @param {Options} options @param {any[]} executions
 */
const readFiles = async ({ baseUrl, filesUntilMs }, executions) => {
  const missing = [];
  let unknown = 0;
  for (const execution of executions) {
    for (const path of filesOf([execution])) {
      const answer = await fetch(new URL(path, baseUrl));
      await answer.arrayBuffer();
      if (answer.status === OK) continue;
      if (Date.parse(execution.finishedAt) > filesUntilMs) unknown += 1;
      else missing.push(`${path} ${answer.status}`);
    }
  }
  return { missing, unknown };
};

/** @param {Options} options @returns {Promise<Checks>} */
export const verify = async (options) => {
  const { api, key, adminKey } = options;
  const { executions, ledger, usage, me, open, missing } = await settled(options);
  const check = (await api.call("GET", "/api/admin/ledger/check?full=true", { key: adminKey })).body;
  const captures = ledger.filter(({ kind }) => kind === "capture");
  const captured = captures.reduce((sum, { credits }) => sum - Math.round(credits * MILLI), 0);
  const ids = new Set(executions.map(({ executionId }) => executionId));
  const own = usage.filter(({ executionId }) => ids.has(executionId));
  const files = await readFiles(
    options,
    executions.filter(({ status }) => status === "completed"),
  );
  const again = await api.call("POST", "/api/models/sandbox-image/run", { key, body: { inputs: { prompt: "after" } } });
  const statuses = [...FINAL].map((status) => `${executions.filter((one) => one.status === status).length} ${status}`);
  return [
    [
      "every run is final",
      open.length === 0,
      `${executions.length} runs: ${statuses.join(", ")}${open.length > 0 ? `; open: ${open.slice(0, 3).map(({ executionId, status }) => `${executionId} ${status}`)}` : ""}`,
    ],
    [
      "no run is charged twice",
      new Set(captures.map(({ executionId }) => executionId)).size === captures.length,
      `${captures.length} captures`,
    ],
    [
      "credits are conserved: ledger, usage and runs say the same",
      captured === milliOf(executions) && captured === milliOf(own),
      `${captured}, ${milliOf(own)} and ${milliOf(executions)} milli-credits`,
    ],
    ["every run has one usage row", own.length === executions.length && own.every(({ status }) => FINAL.has(status)), `${own.length} rows`],
    ["the ledger's invariants hold", check.ok === true, JSON.stringify(check.mismatches)],
    ["nothing is held any more", me.credits.held === 0, `${me.credits.held} credits`],
    ["every webhook got its message", missing.length === 0, `${missing.length} not; ${options.receiver.received.length} deliveries`],
    [
      "every file that the copy knew is there",
      files.missing.length === 0,
      `${files.missing.length} not; ${files.unknown} that were stored after it are known to nobody`,
    ],
    ["new runs run", again.status === OK, String(again.status)],
  ];
};
