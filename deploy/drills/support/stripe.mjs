import { createHmac, randomUUID } from "node:crypto";
import { serve } from "./serve.mjs";

/** @typedef {{ session: string, payment: string, checkout: string, userId: string, amount: number }} Order */

const SECRET = "whsec_of_a_drill";
const REPEAT_MS = 1_000;
const ANSWER_MS = 30_000;

/** @param {string} body */
const signatureOf = (body) => {
  const at = Math.floor(Date.now() / 1_000);
  return `t=${at},v1=${createHmac("sha256", SECRET).update(`${at}.${body}`).digest("hex")}`;
};

/**
 * Simulates Stripe: creates sessions, once per idempotency key, and sends signed events until they are acknowledged. stripe-mock, which
 * implements Stripe's document, doesn't send events: `npm run drill peers stripe`.
 */
export const createStripe = async () => {
  /** @type {Map<string, Order>} by idempotency key */
  const orders = new Map();
  const { url, close } = await serve((request, response, text) => {
    const form = new URLSearchParams(text);
    const key = String(request.headers["idempotency-key"]);
    const order = orders.get(key) ?? {
      session: `cs_${randomUUID()}`,
      payment: `pi_${randomUUID()}`,
      checkout: form.get("metadata[nodeloom_checkout]") ?? "",
      userId: form.get("client_reference_id") ?? "",
      amount: Number(form.get("line_items[0][price_data][unit_amount]")),
    };
    orders.set(key, order);
    const session = { id: order.session, object: "checkout.session", url: `https://checkout.stripe.com/c/pay/${order.session}` };
    response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(session));
  });
  return {
    /** For the billing service. */
    env: { STRIPE_SECRET_KEY: "sk_test_of_a_drill", STRIPE_WEBHOOK_SECRET: SECRET, STRIPE_API_BASE: url },

    /** @param {string} url address to which a buyer was redirected */
    orderOf: (url) => [...orders.values()].find(({ session }) => url.endsWith(session)),

    /**
     * Sends an event until it is answered with 200, as Stripe does for days.
     * @param {() => string} baseUrl @param {string} type @param {object} object @returns {Promise<string>} its outcome
     */
    deliver: async (baseUrl, type, object) => {
      const body = JSON.stringify({ id: `evt_${randomUUID()}`, object: "event", type, livemode: false, data: { object } });
      for (;;) {
        const headers = { "content-type": "application/json", "stripe-signature": signatureOf(body) };
        const signal = AbortSignal.timeout(ANSWER_MS);
        const answer = await fetch(`${baseUrl()}/api/billing/events`, { method: "POST", headers, body, signal }).catch(() => undefined);
        if (answer?.status === 200) return /** @type {any} */ (await answer.json()).outcome;
        await answer?.arrayBuffer().catch(() => undefined);
        await new Promise((resolve) => setTimeout(resolve, REPEAT_MS));
      }
    },

    close,
  };
};
