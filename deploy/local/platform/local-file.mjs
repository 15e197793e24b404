import { readJson, writeJson } from "../run/files.mjs";
import { LOCAL_FILE } from "../paths.mjs";

/**
 * State of the local platform for clients.
 * @typedef {object} Local
 * @property {string} baseUrl
 * @property {string} temporalAddress
 * @property {string | undefined} temporalUiUrl
 * @property {string | undefined} tracesUrl where traces are looked at
 * @property {string} [demoTraceUrl] the trace of the demo run
 * @property {string} mongoUri
 * @property {string} redisUrl
 * @property {string} sandboxUrl
 * @property {string} sandboxControlKey for its control routes (`X-Sandbox-Control-Key`): faults and statistics
 * @property {Record<string, number | null>} pids null for what does not run, or is run by someone else
 * @property {Partial<import("../seed/accounts.mjs").Accounts>} accounts
 */

/** @returns {Promise<Local | undefined>} what the last start wrote */
export const readLocal = () => readJson(LOCAL_FILE);

/** @param {Local} local */
export const writeLocal = (local) => writeJson(LOCAL_FILE, local);
