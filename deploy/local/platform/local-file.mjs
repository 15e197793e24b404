import { readJson, writeJson } from "../run/files.mjs";
import { LOCAL_FILE } from "../paths.mjs";

/**
 * State of the local platform for clients.
 * @typedef {object} Local
 * @property {string} baseUrl
 * @property {string[]} [formerBaseUrls] addresses of earlier starts, newest first: stored results name their files by them
 * @property {string} temporalAddress
 * @property {string | undefined} temporalUiUrl
 * @property {string | undefined} tracesUrl address of the trace viewer
 * @property {string} [demoTraceUrl] the trace of the demo run
 * @property {string} mongoUri
 * @property {string} redisUrl
 * @property {string} sandboxUrl
 * @property {string} sandboxControlKey for its control routes (`X-Sandbox-Control-Key`): faults and statistics
 * @property {Record<string, number | null>} pids null for a process that doesn't run, or that this launcher didn't start
 * @property {Partial<import("../seed/accounts.mjs").Accounts>} accounts
 */

/** @returns {Promise<Local | undefined>} state written by the last start */
export const readLocal = () => readJson(LOCAL_FILE);

/** A start takes another port if its usual one is in use, or because of the environment. */
const MOST_FORMER = 50;

/**
 * Addresses of the starts before the next one, newest first.
 * @param {Pick<Local, "baseUrl" | "formerBaseUrls"> | undefined} last state written by the last start
 */
export const formerBaseUrlsAfter = (last) =>
  last === undefined ? [] : [...new Set([last.baseUrl, ...(last.formerBaseUrls ?? [])])].slice(0, MOST_FORMER);

/** @param {Local} local */
export const writeLocal = (local) => writeJson(LOCAL_FILE, local);
