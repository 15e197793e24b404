/**
 * `npm run drill chaos`: kills every part of a whole local platform in turn during runs. Then it checks that nothing was lost, nothing was
 * charged twice and every webhook arrived. The drill takes bounded time and affects only processes that it started.
 */
import { killProcess } from "../support/faults.mjs";
import { runDrill } from "../support/run-drill.mjs";
import { setStage } from "../support/stage.mjs";
import { createStripe } from "../support/stripe.mjs";
import { createLoad } from "./load.mjs";
import { createPurchases } from "./payments.mjs";
import { pause, readLocal } from "../support/platform.mjs";
import { checksAfter } from "./verify.mjs";

export const DRILL = { sentence: "kills every part in turn under mixed runs: nothing may be lost, charged twice or left open", minutes: 4 };

const RUNS = Number(process.env.CHAOS_RUNS ?? 200);
const SETTLE_MS = 240_000;
/** Pause between faults: long enough for a supervisor to restart a process, short enough for the next fault to hit its recovery. */
const GAP_MS = 5_000;

/** @typedef {(line: string) => void} Say */

/** @param {Say} say @param {string} what @param {object} fault @param {number} forMs */
const sandboxFault = async (say, what, fault, forMs) => {
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

/** Kills every process, also the databases, and then disturbs the provider. @param {Say} say */
const faults = async (say) => {
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
    await killProcess(name, say);
  }
  await pause(GAP_MS);
  await sandboxFault(say, "paused", { pauseMs: 30_000 }, 30_000);
  await sandboxFault(say, "answers 500s", { errorRate: 0.5 }, 5_000);
  await sandboxFault(say, "answers malformed bodies", { malformed: true }, 5_000);
};

await runDrill("chaos", async ({ say, check, atEnd }) => {
  const stripe = await createStripe();
  atEnd(stripe.close);
  const { api, adminKey, receiver, user } = await setStage({ atEnd }, { env: stripe.env });
  // The limit is high enough for all runs. The budget's count must equal the charges.
  await api.call("PUT", `/api/keys/${user.keyId}/budget`, { cookie: user.cookie, body: { credits: 1_000_000, window: "total" } });
  const load = await createLoad({ api, user, runs: RUNS, say });
  const purchases = createPurchases({ api, user, stripe, baseUrl: () => readLocal().baseUrl });
  say(`${RUNS} mixed runs, two batches and purchases while every part is killed in turn`);
  const working = Promise.all([load.start(), purchases.start()]);
  await faults(say);
  const [results, purchaseResults] = await working;
  check(...(await checksAfter({ api, user, load: results, receiver, adminKey, deadlineMs: SETTLE_MS, say })));
  check(await purchases.check(purchaseResults));
});
