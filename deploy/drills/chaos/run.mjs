/**
 * `npm run drill chaos`: kills every part of a whole local platform in turn during runs. Then it checks that nothing was lost, nothing was
 * charged twice and every webhook arrived. The drill takes bounded time and affects only processes that it started.
 */
import { createApi } from "../support/api.mjs";
import { createReceiver } from "../support/receiver.mjs";
import { createStripe } from "../support/stripe.mjs";
import { createLoad } from "./load.mjs";
import { createPurchases } from "./payments.mjs";
import { pause, pidOf, readLocal, startPlatform } from "../support/platform.mjs";
import { verify } from "./verify.mjs";

export const DRILL = { sentence: "kills every part in turn under mixed runs: nothing may be lost, charged twice or left open", minutes: 4 };

const RUNS = Number(process.env.CHAOS_RUNS ?? 200);
const SETTLE_MS = 240_000;
/** Pause between faults: long enough for a supervisor to restart a process, short enough for the next fault to hit its recovery. */
const GAP_MS = 5_000;

const say = (/** @type {string} */ line) => process.stdout.write(`${((Date.now() - started) / 1000).toFixed(1).padStart(6)} s  ${line}\n`);
const started = Date.now();

/** Sends SIGKILL, also to the database. */
const killService = async (/** @type {string} */ name) => {
  const pid = pidOf(name);
  process.kill(pid, "SIGKILL");
  say(`SIGKILL ${name} (${pid})`);
};

const sandboxFault = async (/** @type {string} */ what, /** @type {object} */ fault, /** @type {number} */ forMs) => {
  const { sandboxUrl, sandboxControlKey } = readLocal();
  say(`sandbox: ${what} for ${forMs / 1000} s`);
  const set = (/** @type {RequestInit} */ init) =>
    fetch(`${sandboxUrl}/sandbox/faults`, {
      ...init,
      headers: { "content-type": "application/json", "x-sandbox-control-key": sandboxControlKey },
    }).catch(() => undefined);
  await set({ method: "POST", body: JSON.stringify(fault) });
  await pause(forMs);
  await set({ method: "DELETE" });
};

const faults = async () => {
  for (const name of [
    "executions",
    "billing",
    "usage",
    "workflows",
    "gateway",
    "media",
    "sandbox",
    "identity",
    "models",
    "redis",
    "temporal",
    "mongodb",
  ]) {
    await pause(GAP_MS);
    await killService(name);
  }
  await pause(GAP_MS);
  await sandboxFault("paused", { pauseMs: 30_000 }, 30_000);
  await sandboxFault("answers 500s", { errorRate: 0.5 }, 5_000);
  await sandboxFault("answers malformed bodies", { malformed: true }, 5_000);
};

const receiver = await createReceiver();
const stripe = await createStripe();
const platform = await startPlatform({ EGRESS_ALLOW: receiver.address, ...stripe.env });
let failed = true;
try {
  const api = createApi(() => readLocal().baseUrl);
  const user = await api.enterprise(readLocal().accounts, receiver.url);
  // The limit is high enough for all runs. The budget's count must equal the charges.
  await api.call("PUT", `/api/keys/${user.keyId}/budget`, { cookie: user.cookie, body: { credits: 1_000_000, window: "total" } });
  const load = await createLoad({ api, user, runs: RUNS, say });
  const purchases = createPurchases({ api, user, stripe, baseUrl: () => readLocal().baseUrl });
  say(`${RUNS} mixed runs, two batches and purchases while every part is killed in turn`);
  const working = Promise.all([load.start(), purchases.start()]);
  await faults();
  const [results, purchaseResults] = await working;
  const { admin } = readLocal().accounts;
  failed = !(await verify({
    api,
    user,
    load: results,
    receiver,
    admin,
    deadlineMs: SETTLE_MS,
    more: [await purchases.check(purchaseResults)],
    say,
  }));
} catch (error) {
  say(error instanceof Error ? (error.stack ?? error.message) : String(error));
} finally {
  await platform.stop();
  receiver.close();
  stripe.close();
}
process.stdout.write(failed ? "\nchaos: FAILED\n" : "\nchaos: passed\n");
process.exit(failed ? 1 : 0);
