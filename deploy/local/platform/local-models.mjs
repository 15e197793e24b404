import { join } from "node:path";
import { ROOT } from "../paths.mjs";
import { startChild } from "../run/child.mjs";
import { hasLocalModels } from "../run/processes.mjs";

const FETCH = join(ROOT, "services", "inference", "dist", "fetch", "main.js");
const NAME = "local models";
const MB = 1_000_000;
/** Share of the download between two printed lines. */
const STEP = 0.2;
const SHOWN_LINES = 3;
const FFMPEG = "ffmpeg";

/** @typedef {{ fetchedBytes: number, totalBytes: number, left?: Record<string, number>, state: string }} Progress */
/** @typedef {{ note: (name: string, text: string) => void, env: NodeJS.ProcessEnv }} Options */

/** @param {Options} options @param {(missing: string[]) => void} onMissing */
const fetchAll = async ({ note, env }, onMissing) => {
  let shownShare = -1;
  let lacksFfmpeg = false;
  const tell = (/** @type {Progress} */ { fetchedBytes, totalBytes, left = {}, state }) => {
    onMissing(Object.keys(left));
    if (lacksFfmpeg && !(FFMPEG in left)) note(FFMPEG, "ready: operations on videos and audio run now");
    lacksFfmpeg = FFMPEG in left;
    const share = totalBytes === 0 ? 1 : fetchedBytes / totalBytes;
    // If all files are present, there is nothing to print.
    if (state !== "fetching" || (shownShare >= 0 && share - shownShare < STEP)) return;
    shownShare = share;
    note(NAME, `${Math.round(fetchedBytes / MB)} of ${Math.round(totalBytes / MB)} MB`);
  };
  try {
    const child = await startChild({ command: process.execPath, args: [FETCH], cwd: ROOT, env, ipc: true });
    child.process.on("message", (message) => tell(/** @type {Progress} */ (message)));
    const { code, signal } = await child.exited;
    await child.printed;
    if (code === 0 && shownShare >= 0) note(NAME, "ready");
    if (code !== 0 && signal === null) note(NAME, child.tail().trim().split("\n").slice(-SHOWN_LINES).join("; "));
  } catch (error) {
    note(NAME, error instanceof Error ? error.message : String(error));
  } finally {
    onMissing([]);
  }
};

/**
 * Downloads local models in the background and prints the progress. Existing files are kept. Nothing depends on the download: failures are
 * printed, and `node services/inference/dist/fetch/main.js` retries.
 * @param {Options} options
 * @returns {Promise<string[]>} names of missing models, as soon as they are known
 */
export const fetchLocalModels = (options) => {
  // Machines of continuous integration don't need them.
  if (!hasLocalModels(options.env) || options.env.CI) return Promise.resolve([]);
  return new Promise((onMissing) => void fetchAll(options, onMissing));
};
