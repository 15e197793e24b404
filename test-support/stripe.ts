import { createHmac, randomUUID } from "node:crypto";
import { startRecorder } from "./recorder";

/** A fake Stripe: it records checkouts and signs events. `npm run drill peers stripe` uses stripe-mock. */

const SECOND_MS = 1_000;
/** A status that Stripe's library doesn't retry. */
const REFUSED = 402;
const UNAUTHORIZED = 401;
const KEY = "sk_test_of_tests";

/** A checkout that Stripe received. */
export interface Checkout {
  checkout: string;
  userId: string;
  /** Amount in cents. */
  amount: number;
  session: string;
  /** Address with a placeholder for the session's id. */
  successUrl: string;
}

export interface StripeEnd {
  /** Environment of the billing service. */
  env: Record<string, string>;
  checkouts: readonly Checkout[];
  stop(): Promise<void>;
}

export const WEBHOOK_SECRET = "whsec_of_tests";

/** The header `Stripe-Signature` for a body. */
export const signatureOf = (body: string, { secret = WEBHOOK_SECRET, ageSeconds = 0 } = {}): string => {
  const at = Math.floor(Date.now() / SECOND_MS) - ageSeconds;
  return `t=${at},v1=${createHmac("sha256", secret).update(`${at}.${body}`).digest("hex")}`;
};

export const eventOf = (type: string, object: object): string =>
  JSON.stringify({ id: `evt_${randomUUID()}`, object: "event", type, livemode: false, data: { object } });

export interface Paid extends Omit<Checkout, "successUrl"> {
  payment: string;
}

export const completedEvent = ({ session, payment, checkout, userId, amount }: Paid): string =>
  eventOf("checkout.session.completed", {
    ...{ id: session, object: "checkout.session", payment_intent: payment, payment_status: "paid" },
    ...{ client_reference_id: userId, amount_total: amount, currency: "usd" },
    metadata: { nodeloom_checkout: checkout, nodeloom_account: userId },
  });

export const refundEvent = (id: string, { payment }: Pick<Paid, "payment">, amount: number, status = "succeeded"): string =>
  eventOf("refund.updated", { id, object: "refund", payment_intent: payment, amount, currency: "usd", status });

const read = (text: string): Checkout => {
  const form = new URLSearchParams(text);
  return {
    checkout: form.get("metadata[nodeloom_checkout]") ?? "",
    userId: form.get("client_reference_id") ?? "",
    amount: Number(form.get("line_items[0][price_data][unit_amount]")),
    session: `cs_${randomUUID()}`,
    successUrl: form.get("success_url") ?? "",
  };
};

/** Listens at `STRIPE_API_BASE`. @param sells true to return the address of a payment page, false to reject checkouts */
export const startStripeEnd = async ({ sells = false } = {}): Promise<StripeEnd> => {
  const orders: Checkout[] = [];
  const server = await startRecorder((response, { method, headers, body }) => {
    if (method === "GET") return void response.end("Here you would pay.");
    const order = read(body);
    const { authorization, "idempotency-key": key } = headers;
    // Stripe also rejects requests without a key.
    if (authorization !== `Bearer ${KEY}` || !key) return void response.writeHead(UNAUTHORIZED).end();
    orders.push(order);
    response.setHeader("content-type", "application/json");
    const url = `${server.url}/pay/${order.session}`;
    if (sells) return void response.end(JSON.stringify({ id: order.session, object: "checkout.session", url }));
    response.writeHead(REFUSED).end('{"error":{"type":"card_error","message":"none here"}}');
  });
  return {
    env: {
      STRIPE_SECRET_KEY: KEY,
      STRIPE_WEBHOOK_SECRET: WEBHOOK_SECRET,
      STRIPE_API_BASE: server.url,
    },
    checkouts: orders,
    stop: server.close,
  };
};
