import { rm } from "node:fs/promises";
import { CHILDREN_FILE, LOCK_FILE, STATE_DIR } from "./paths.mjs";
import { endLeftovers } from "./run/leftovers.mjs";
import { lockHolder } from "./run/lock.mjs";

const holder = await lockHolder(LOCK_FILE);
if (holder !== undefined) {
  process.stderr.write(`Nodeloom runs (process ${holder.pid}). Stop it first, then reset.\n`);
  process.exit(1);
}
await endLeftovers(CHILDREN_FILE);
await rm(STATE_DIR, { recursive: true, force: true });
process.stdout.write("Removed .nodeloom: data, logs, secrets and accounts are gone. Downloads stay cached.\n");
