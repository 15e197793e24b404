import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

export const ROOT = fileURLToPath(new URL("../..", import.meta.url));

/**
 * State of a local platform: data, logs, secrets, addresses. Ignored by git; `npm run reset` deletes it. Each platform in a checkout needs
 * its own.
 */
export const STATE_DIR = resolve(ROOT, process.env.NODELOOM_STATE_DIR || ".nodeloom");

export const DATA_DIR = join(STATE_DIR, "data");
export const LOG_DIR = join(STATE_DIR, "logs");
export const MEDIA_DIR = join(STATE_DIR, "media");
export const SANDBOX_DIR = join(STATE_DIR, "sandbox");
export const INFERENCE_DIR = join(STATE_DIR, "inference");
export const EXECUTIONS_DIR = join(STATE_DIR, "executions");
export const TRANSFORM_DIR = join(STATE_DIR, "transform");
/** Folders with data of accounts, which only their owner can read. */
export const DATA_FOLDERS = [DATA_DIR, LOG_DIR, MEDIA_DIR, SANDBOX_DIR, INFERENCE_DIR, EXECUTIONS_DIR, TRANSFORM_DIR];
export const LOCK_FILE = join(STATE_DIR, "lock.json");
export const SECRETS_FILE = join(STATE_DIR, "secrets.json");
/** Addresses and processes, for clients and `npm run status`. */
export const LOCAL_FILE = join(STATE_DIR, "local.json");
/** Child processes with their identity, so that the next start can end those of a killed launcher. */
export const CHILDREN_FILE = join(STATE_DIR, "children.json");
