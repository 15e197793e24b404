import Stripe from "stripe";
import { STRIPE_API_VERSION } from "../../src/payments/stripe";

/** Stripe events, reduced to the relevant members. */

export const SECRET = "whsec_of_tests";
const SECOND_MS = 1_000;

/** Signs a body with Stripe's library. */
export const signatureOf = (body: Buffer, { secret = SECRET, ageSeconds = 0 } = {}): string =>
  Stripe.webhooks.generateTestHeaderString({
    payload: body.toString(),
    secret,
    timestamp: Math.floor(Date.now() / SECOND_MS) - ageSeconds,
  });

let events = 0;

export const eventOf = (type: string, object: object, { livemode = false, id = `evt_${(events += 1)}` } = {}): Buffer =>
  Buffer.from(
    JSON.stringify({
      ...{ id, object: "event", api_version: STRIPE_API_VERSION, type, livemode, pending_webhooks: 1 },
      created: Math.floor(Date.now() / SECOND_MS),
      data: { object },
    }),
  );

export interface SessionOptions {
  session: string;
  payment: string;
  checkout?: string;
  userId: string;
  clientReference?: string;
  amount: number;
  currency?: string;
  status?: "paid" | "unpaid";
}

export const completed = (options: SessionOptions, type = "checkout.session.completed"): Buffer => {
  const { session, payment, checkout, userId, clientReference = userId, amount, currency = "usd", status = "paid" } = options;
  return eventOf(type, {
    ...{ id: session, object: "checkout.session", mode: "payment", payment_intent: payment, payment_status: status },
    ...{ client_reference_id: clientReference, amount_total: amount, currency },
    metadata: checkout === undefined ? {} : { nodeloom_checkout: checkout, nodeloom_account: userId },
  });
};

export interface PaidBackOptions {
  id: string;
  payment: string;
  amount: number;
  currency?: string;
  status: string;
}

export const refund = ({ id, payment, amount, currency = "usd", status }: PaidBackOptions, type = "refund.updated"): Buffer =>
  eventOf(type, { id, object: "refund", payment_intent: payment, charge: `ch_of_${payment}`, amount, currency, status });

export const dispute = ({ id, payment, amount, currency = "usd", status }: PaidBackOptions, type = "charge.dispute.updated"): Buffer =>
  eventOf(type, { id, object: "dispute", payment_intent: payment, charge: `ch_of_${payment}`, amount, currency, status });
