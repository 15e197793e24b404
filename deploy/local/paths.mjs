import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

/** The repository's root. */
export const ROOT = fileURLToPath(new URL("../..", import.meta.url));

/**
 * Everything a local platform keeps: data, logs, secrets, addresses. Ignored by git; `npm run reset` removes it. Of several platforms in
 * one checkout each needs its own.
 */
export const STATE_DIR = resolve(ROOT, process.env.NODELOOM_STATE_DIR || ".nodeloom");

export const DATA_DIR = join(STATE_DIR, "data");
export const LOG_DIR = join(STATE_DIR, "logs");
export const MEDIA_DIR = join(STATE_DIR, "media");
export const SANDBOX_DIR = join(STATE_DIR, "sandbox");
export const INFERENCE_DIR = join(STATE_DIR, "inference");
export const TRANSFORM_DIR = join(STATE_DIR, "transform");
/** Folders with what accounts stored: only their owner may read them. */
export const DATA_FOLDERS = [DATA_DIR, LOG_DIR, MEDIA_DIR, SANDBOX_DIR, INFERENCE_DIR, TRANSFORM_DIR];
export const LOCK_FILE = join(STATE_DIR, "lock.json");
export const SECRETS_FILE = join(STATE_DIR, "secrets.json");
/** What runs where, for clients and for `npm run status`. */
export const LOCAL_FILE = join(STATE_DIR, "local.json");
/** Every child process with what identifies it, to end what a killed launcher left behind. */
export const CHILDREN_FILE = join(STATE_DIR, "children.json");
