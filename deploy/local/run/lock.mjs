import { link, mkdir, rename, rm, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import { readJson } from "./files.mjs";
import { identityOf } from "./identity.mjs";

const ATTEMPTS = 10;

/**
 * @typedef {{ pid: number, identity: string }} Holder
 */

/** The living process that holds the lock, if any. @param {string} path @returns {Promise<Holder | undefined>} */
export const lockHolder = async (path) => {
  /** @type {Holder | undefined} */
  const holder = await readJson(path);
  return holder !== undefined && (await identityOf(holder.pid)) === holder.identity ? holder : undefined;
};

/**
 * Takes the lock, or returns its holder. If the holder is dead, the lock is taken over.
 * @param {string} path
 * @returns {Promise<{ release: () => Promise<void> } | { holder: Holder }>}
 */
export const takeLock = async (path) => {
  const mine = { pid: process.pid, identity: (await identityOf(process.pid)) ?? "" };
  const draft = `${path}.${process.pid}`;
  await mkdir(dirname(path), { recursive: true });
  await writeFile(draft, JSON.stringify(mine));
  try {
    for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
      // Linking is atomic, so a half-written lock is never visible.
      const isTaken = await link(draft, path).then(
        () => true,
        () => false,
      );
      if (isTaken) return { release: () => rm(path, { force: true }) };
      const holder = await lockHolder(path);
      if (holder !== undefined) return { holder };
      // If several processes find a dead holder's lock, only one can move it.
      await rename(path, `${draft}.stale`).catch(() => {});
      await rm(`${draft}.stale`, { force: true });
    }
    throw new Error(`${path} can't be taken: remove it if nothing runs`);
  } finally {
    await rm(draft, { force: true });
  }
};
