import { TEMPLATES } from "../../local/seed/templates/index.mjs";
import { pause, readLocal } from "../support/platform.mjs";

/**
 * Runs every seeded template on the Free and the Pro tier. The list must mark each template that can't run, and all others must complete.
 */

const TIERS = /** @type {const} */ (["free", "pro"]);
const WAIT_MS = 15 * 60_000;
const LOOK_MS = 500;
const UNDER_WAY = new Set(["processing", "cancel_requested"]);

/** @typedef {ReturnType<typeof import("../support/api.mjs").createApi>} Api */
/** @typedef {{ slug: string, name: string, isTemplate: boolean, estimatedCreditCost: number | null, unavailable?: { reason: string } }} Listed */

/** Runs a template with its defaults. @param {Api} api @param {string} cookie @param {string} slug @returns {Promise<{ status: string, code?: string, error?: unknown }>} */
const run = async (api, cookie, slug) => {
  const { status, body } = await api.call("POST", `/api/workflows/${slug}/run`, { cookie, body: { inputs: {} }, prefer: "respond-async" });
  if (status !== 202) return { status: "refused", ...body };
  for (const end = Date.now() + WAIT_MS; Date.now() < end; await pause(LOOK_MS)) {
    const { body: execution } = await api.call("GET", `/api/executions/${body.executionId}`, { cookie });
    if (!UNDER_WAY.has(execution.status)) return execution;
  }
  return { status: "still running" };
};

/** @param {import("../support/run-drill.mjs").Drill} drill @param {Api} api */
export const tiers = async ({ check }, api) => {
  for (const tier of TIERS) {
    // Free accounts have no keys.
    const cookie = await api.signIn(readLocal().accounts[tier]);
    const listed = /** @type {Listed[]} */ ((await api.call("GET", "/api/workflows", { cookie })).body);
    for (const { name } of TEMPLATES) {
      const template = listed.find((one) => one.isTemplate && one.name === name);
      const { status, error, code } = template ? await run(api, cookie, template.slug) : { status: "not listed" };
      const failure = JSON.stringify(error ?? "").slice(0, 300);
      const missing = template?.unavailable?.reason;
      // If the plan's remaining credits aren't enough, the price shows this before a run.
      const isDear = code === "INSUFFICIENT_CREDITS";
      if (missing === undefined) check([`${tier}: ${name} runs as it is`, status === "completed" || isDear, `${status} ${failure}`]);
      else check([`${tier}: ${name} is refused, as its card says`, status === "refused", `${missing}; ${status} ${failure}`]);
    }
  }
};
