import { setTimeout as delay } from "node:timers/promises";
import { creditChecks, deliveredIds, everyPage, FINAL, heldCredits, milliOf, read, usageRows } from "../support/invariants.mjs";

/**
 * Checks of a restored platform.
 * @typedef {ReturnType<typeof import("../support/api.mjs").createApi>} Api
 * @typedef {Awaited<ReturnType<typeof import("../support/receiver.mjs").createReceiver>>} Receiver
 * @typedef {{ api: Api, baseUrl: string, key: string, cookie: string, adminKey: string, receiver: Receiver, loadedFromMs: number, filesUntilMs: number, deadlineMs: number, reconcile: () => Promise<void> }} Options
 * @typedef {import("../support/run-drill.mjs").Check} Check
 */

const LOOK_MS = 3_000;
const OK = 200;

/** @param {Options} options @param {number} [fromMs] omits pages with only older executions @returns {Promise<any[]>} */
const readExecutions = ({ api, key }, fromMs = 0) =>
  everyPage(api, "/api/executions?limit=100", { key }, (rows) => Date.parse(rows.at(-1)?.createdAt) < fromMs);

/** Webhooks that weren't received. @param {any[]} executions @param {Receiver} receiver */
const untold = (executions, receiver) => {
  const delivered = deliveredIds(receiver);
  // Synchronous runs have no webhook.
  return executions.filter(({ executionId, webhookDelivery }) => webhookDelivery?.configured === true && !delivered.has(executionId));
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
    const credits = await heldCredits(api, cookie);
    const usage = await read(api, "/api/usage?status=processing&limit=1", { key });
    const isSettled = open.length === 0 && missing.length === 0 && credits === 0 && usage.rows.length === 0;
    if (isSettled || Date.now() > end) return { open, missing };
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

/** @param {Options} options @returns {Promise<Check[]>} */
export const verify = async (options) => {
  const { api, key, cookie, adminKey } = options;
  const { open, missing } = await settled(options);
  const executions = await readExecutions(options);
  const usage = await usageRows(api, key);
  const captures = (await everyPage(api, "/api/me/ledger?limit=200", { cookie })).filter(({ kind }) => kind === "capture");
  const captured = milliOf(captures.map(({ credits }) => ({ creditsCost: -credits })));
  const ids = new Set(executions.map(({ executionId }) => executionId));
  const own = usage.filter(({ executionId }) => ids.has(executionId));
  const files = await readFiles(
    options,
    executions.filter(({ status }) => status === "completed"),
  );
  const credits = await creditChecks(api, adminKey, cookie);
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
    ...credits,
    ["every webhook got its message", missing.length === 0, `${missing.length} not; ${options.receiver.received.length} deliveries`],
    [
      "every file that the copy knew is there",
      files.missing.length === 0,
      `${files.missing.length} not; ${files.unknown} that were stored after it are known to nobody`,
    ],
    ["new runs run", again.status === OK, String(again.status)],
  ];
};
