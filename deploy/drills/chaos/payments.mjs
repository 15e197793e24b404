import { randomUUID } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import { everyPage } from "../support/invariants.mjs";

/** Buys and refunds credits during faults. Stripe's events arrive twice and in any order. */

const PURCHASES = 20;
const SPREAD_MS = 75_000;
const CREDITS = 1_000;
/** Default price of a credit. */
const CENTS = 1;
/** Refunded part of one purchase, in cents. */
const PART = 333;

/** @typedef {import("../support/stripe.mjs").Order} Order */
/** @typedef {{ type: string, object: object }} Event */

/** @param {Order} order @returns {Event} */
const completed = ({ session, payment, checkout, userId, amount }) => ({
  type: "checkout.session.completed",
  object: {
    ...{ id: session, object: "checkout.session", payment_intent: payment, payment_status: "paid" },
    ...{ client_reference_id: userId, amount_total: amount, currency: "usd" },
    metadata: { nodeloom_checkout: checkout, nodeloom_account: userId },
  },
});

/** @param {string} type @param {string} id @param {Order} order @param {string} status @returns {Event} */
const paidBack = (type, id, { payment }, status) => ({
  type,
  object: { id, object: type.split(".")[0], payment_intent: payment, amount: PART, currency: "usd", status },
});

/**
 * Kinds of purchases in turn: the events, and the expected rows of the ledger in credits.
 * @type {readonly ((order: Order, id: string) => { events: Event[], rows: Record<string, number> })[]}
 */
const STORIES = [
  () => ({ events: [], rows: {} }),
  (order, id) => ({
    events: [paidBack("refund.created", `re_${id}`, order, "pending"), paidBack("refund.updated", `re_${id}`, order, "succeeded")],
    rows: { [`stripe:re_${id}`]: -PART },
  }),
  (order, id) => ({
    events: [paidBack("refund.created", `re_${id}`, order, "pending"), paidBack("refund.failed", `re_${id}`, order, "failed")],
    rows: { [`stripe:re_${id}`]: -PART, [`stripe:re_${id}:returned`]: PART },
  }),
  (order, id) => ({
    events: [
      paidBack("charge.dispute.created", `dp_${id}`, order, "needs_response"),
      paidBack("charge.dispute.closed", `dp_${id}`, order, "won"),
      paidBack("refund.updated", `re_${id}`, order, "succeeded"),
    ],
    rows: { [`stripe:dp_${id}`]: -PART, [`stripe:dp_${id}:returned`]: PART, [`stripe:re_${id}`]: -PART },
  }),
];

/**
 * @param {{ api: ReturnType<import("../support/api.mjs").createApi>, user: import("../support/api.mjs").User, stripe: Awaited<ReturnType<typeof import("../support/stripe.mjs").createStripe>>, baseUrl: () => string }} options
 */
export const createPurchases = ({ api, user: { cookie }, stripe, baseUrl }) => {
  /** @param {number} index @returns {Promise<Record<string, number>>} expected rows */
  const one = async (index) => {
    await delay((index / PURCHASES) * SPREAD_MS);
    const options = { cookie, body: { credits: CREDITS }, idempotencyKey: randomUUID() };
    const { status, body } = await api.call("POST", "/api/billing/checkout", options);
    const order = status === 200 ? stripe.orderOf(body.url) : undefined;
    if (!order) throw new Error(`a checkout was answered ${status}: ${JSON.stringify(body)}`);
    if (order.amount !== CREDITS * CENTS) throw new Error(`${order.amount} cents were asked for ${CREDITS} credits`);
    const { events, rows } = /** @type {typeof STORIES[number]} */ (STORIES[index % STORIES.length])(order, randomUUID());
    const all = [...events, completed(order)];
    await Promise.all(
      [...all, ...all].map(async ({ type, object }) => {
        await delay(Math.random() * (SPREAD_MS / 2));
        const outcome = await stripe.deliver(baseUrl, type, object);
        if (outcome !== "taken") throw new Error(`${type} was ${outcome}`);
      }),
    );
    return { [`stripe:${order.session}`]: CREDITS, ...rows };
  };

  /** @param {string} kind @returns {Promise<[string, number][]>} */
  const booked = async (kind) =>
    (await everyPage(api, `/api/me/ledger?kind=${kind}&limit=200`, { cookie })).map(({ id, credits }) => [id, credits]);

  return {
    /** @returns {Promise<Record<string, number>>} expected rows of the ledger, in credits by id */
    start: async () => Object.assign({}, ...(await Promise.all(Array.from({ length: PURCHASES }, (_, index) => one(index))))),

    /** @param {Record<string, number>} expected @returns {Promise<import("../support/run-drill.mjs").Check>} */
    check: async (expected) => {
      const rows = new Map([...(await booked("topup")), ...(await booked("adjust"))]);
      // If the end of a dispute or a failed refund arrives before its begin, no credits move.
      const isUnmoved = (/** @type {string} */ id) => {
        const takenId = id.replace(/:returned$/, "");
        return `${takenId}:returned` in expected && !rows.has(takenId) && !rows.has(`${takenId}:returned`);
      };
      const wrong = Object.entries(expected).filter(([id, credits]) => rows.get(id) !== credits && !isUnmoved(id));
      const sum = Object.values(expected).reduce((total, credits) => total + credits, 0);
      const sessions = Object.keys(expected).filter((id) => id.startsWith("stripe:cs_")).length;
      const isWhole = wrong.length === 0 && sessions === PURCHASES;
      const detail = wrong.length > 0 ? wrong.slice(0, 3).map(([id]) => `${id}: ${rows.get(id)}`) : [`${sum} credits`];
      return [
        `every purchase, refund and dispute is booked once`,
        isWhole,
        `${sessions} purchases, ${Object.keys(expected).length} rows, ${detail}`,
      ];
    },
  };
};
