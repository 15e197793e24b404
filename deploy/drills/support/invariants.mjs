/**
 * What must hold after faults: every run has ended, has one row of usage, and was charged what it says.
 * @typedef {ReturnType<typeof import("./api.mjs").createApi>} Api
 * @typedef {import("./run-drill.mjs").Check} Check
 * @typedef {{ key?: string, cookie?: string }} Caller
 */
import { pause } from "./platform.mjs";

export const FINAL = new Set(["completed", "failed", "cancelled"]);
const MILLI = 1_000;
const LOOK_MS = 1_000;
const FINAL_LOOK_MS = 300;
/** Most rows in a page of usage. */
const USAGE_PAGE = 500;

/** Credits of rows, in milli-credits. @param {readonly { creditsCost?: number }[]} rows */
export const milliOf = (rows) => rows.reduce((sum, { creditsCost = 0 }) => sum + Math.round(creditsCost * MILLI), 0);

/** Body of a read that must return 200. @param {Api} api @param {string} path @param {Caller} caller */
export const read = async (api, path, caller) => {
  const { status, body } = await api.call("GET", path, caller);
  if (status !== 200) throw new Error(`GET ${path}: ${status} ${JSON.stringify(body)}`);
  return body;
};

/**
 * Reads all pages of a list.
 * @param {Api} api @param {string} path with the page's size @param {Caller} caller
 * @param {(rows: readonly any[]) => boolean} [isEnough] true for a page after which no other is needed
 */
export const everyPage = async (api, path, caller, isEnough = () => false) => {
  const all = [];
  for (let cursor = ""; ;) {
    const { rows, nextCursor } = await read(api, `${path}${cursor && `&cursor=${encodeURIComponent(cursor)}`}`, caller);
    all.push(...rows);
    if (!nextCursor || isEnough(rows)) return all;
    cursor = nextCursor;
  }
};

/** Reads an account's rows of usage. @param {Api} api @param {string} key */
export const usageRows = async (api, key) => {
  const all = [];
  for (let offset = 0; ; offset += USAGE_PAGE) {
    const { rows } = await read(api, `/api/usage?limit=${USAGE_PAGE}&offset=${offset}`, { key });
    all.push(...rows);
    if (rows.length < USAGE_PAGE) return all;
  }
};

/** Credits that an account holds for runs. @param {Api} api @param {string} cookie @returns {Promise<number>} */
export const heldCredits = async (api, cookie) => (await read(api, "/api/me", { cookie })).credits.held;

/** Waits until a run or a batch has ended, and returns it. @param {Api} api @param {string} path @param {Caller} caller @param {number} withinMs */
export const untilFinal = async (api, path, caller, withinMs) => {
  for (const end = Date.now() + withinMs; ; await pause(FINAL_LOOK_MS)) {
    const { status, body } = await api.call("GET", path, caller);
    if (status === 200 && FINAL.has(body.status)) return body;
    if (Date.now() > end) throw new Error(`${path} is not over: ${status} ${JSON.stringify(body)}`);
  }
};

/**
 * Waits until no run of an account is under way, none holds credits, and no row of usage is open. A run is final before its row of usage is,
 * if the row's update has to be relayed.
 * @param {Api} api @param {{ key: string, cookie: string }} user @param {number} deadlineMs
 */
export const untilSettled = async (api, { key, cookie }, deadlineMs) => {
  const isOpen = async (/** @type {string} */ path) => (await read(api, `${path}?status=processing&limit=1`, { key })).rows.length > 0;
  const end = Date.now() + deadlineMs;
  while (Date.now() < end) {
    if (!(await isOpen("/api/executions")) && !(await isOpen("/api/usage")) && (await heldCredits(api, cookie)) === 0) return;
    await pause(LOOK_MS);
  }
};

/** Every account's credits equal the sum of its rows, and nothing is held any more. @param {Api} api @param {string} adminKey @param {string} cookie @returns {Promise<Check[]>} */
export const creditChecks = async (api, adminKey, cookie) => {
  const ledger = await read(api, "/api/admin/ledger/check?full=true", { key: adminKey });
  const credits = await heldCredits(api, cookie);
  return [
    ["the ledger's invariants hold", ledger.ok === true, JSON.stringify(ledger.mismatches)],
    ["nothing is held any more", credits === 0, `${credits} credits`],
  ];
};

/** Ids of runs and tests whose webhook arrived. @param {{ received: readonly { id: string }[] }} receiver */
export const deliveredIds = ({ received }) => new Set(received.map(({ id }) => id.slice("msg_".length)));
