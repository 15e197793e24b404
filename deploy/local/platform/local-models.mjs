import { join } from "node:path";
import { ROOT } from "../paths.mjs";
import { startChild } from "../run/child.mjs";
import { hasLocalModels } from "../run/processes.mjs";

const FETCH = join(ROOT, "services", "inference", "dist", "fetch", "main.js");
const NAME = "local models";
const MB = 1_000_000;
/** Share of the whole between two lines. */
const STEP = 0.2;
const SHOWN_LINES = 3;

/** @typedef {{ fetchedBytes: number, totalBytes: number, state: string }} Progress */

/**
 * Fetches what the models of this machine need, in the background, and says how far it is. What is there already is not fetched again.
 * Nothing depends on it: whatever goes wrong is told, and `node services/inference/dist/fetch/main.js` tries again.
 * @param {{ note: (name: string, text: string) => void, env: NodeJS.ProcessEnv }} options
 */
export const fetchLocalModels = async ({ note, env }) => {
  // A machine that runs tests has no use for them.
  if (!hasLocalModels(env) || env.CI) return;
  let shown = -1;
  const tell = (/** @type {Progress} */ { fetchedBytes, totalBytes, state }) => {
    const share = totalBytes === 0 ? 1 : fetchedBytes / totalBytes;
    // One that finds everything there has nothing to say.
    if (state !== "fetching" || (shown >= 0 && share - shown < STEP)) return;
    shown = share;
    note(NAME, `${Math.round(fetchedBytes / MB)} of ${Math.round(totalBytes / MB)} MB`);
  };
  try {
    const child = await startChild({ command: process.execPath, args: [FETCH], cwd: ROOT, env, ipc: true });
    child.process.on("message", (message) => tell(/** @type {Progress} */ (message)));
    const { code, signal } = await child.exited;
    await child.printed;
    if (code === 0 && shown >= 0) note(NAME, "ready");
    if (code !== 0 && signal === null) note(NAME, child.tail().trim().split("\n").slice(-SHOWN_LINES).join("; "));
  } catch (error) {
    note(NAME, error instanceof Error ? error.message : String(error));
  }
};
