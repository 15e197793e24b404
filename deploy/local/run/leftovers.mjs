import { readJson, writeJson } from "./files.mjs";
import { onLivingChange } from "./child.mjs";
import { identityOf } from "./identity.mjs";

const GRACE_MS = 5_000;
const POLL_MS = 100;

/** @typedef {{ pid: number, identity: string }} Record */

/** @param {number} pid @param {NodeJS.Signals} signal */
const signalGroup = (pid, signal) => {
  try {
    process.kill(-pid, signal);
  } catch {
    // The file was deleted meanwhile.
  }
};

/** @param {Record} record */
const isAlive = async ({ pid, identity }) => (await identityOf(pid)) === identity;

/**
 * Ends processes that a killed launcher started, after checking their identity.
 * @param {string} path the file written by recordChildren
 * @returns {Promise<number>} number of ended processes
 */
export const endLeftovers = async (path) => {
  /** @type {Record[]} */
  const records = (await readJson(path)) ?? [];
  const alive = [];
  for (const record of records) if (await isAlive(record)) alive.push(record);
  for (const { pid } of alive) signalGroup(pid, "SIGTERM");
  const deadline = Date.now() + GRACE_MS;
  for (const record of alive) {
    while (Date.now() < deadline && (await isAlive(record))) await new Promise((resolve) => setTimeout(resolve, POLL_MS));
    if (await isAlive(record)) signalGroup(record.pid, "SIGKILL");
  }
  return alive.length;
};

/**
 * Keeps a file of this launcher's children up to date.
 * @param {string} path
 * @returns {() => Promise<void>} resolves when the file is current
 */
export const recordChildren = (path) => {
  /** @type {Promise<void>} */
  let writing = Promise.resolve();
  onLivingChange((pids) => {
    writing = writing.then(async () => {
      const records = await Promise.all(pids.map(async (pid) => ({ pid, identity: await identityOf(pid) })));
      await writeJson(
        path,
        records.filter(({ identity }) => identity !== undefined),
      ).catch(() => {});
    });
  });
  return () => writing;
};
