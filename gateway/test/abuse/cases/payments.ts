import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { answers, rowsOf } from "../../conformance/check";
import type { Actor, Context } from "../../conformance/context";
import type { Answer } from "../../../../test-support/client";
import { completedEvent, refundEvent, signatureOf, type Paid, type StripeEnd } from "../../../../test-support/stripe";
import type { AbuseCase } from "../case";

const EVENTS = "/api/billing/events";
const REPLAYS = 20;
const TOO_LARGE = 300 * 1024;
const CREDITS = 1_000;

const send = (context: Context, body: string, signature = signatureOf(body)): Promise<Answer> =>
  context.anonymous.call("POST", EVENTS, { raw: body, headers: { "stripe-signature": signature } });

/** Starts a checkout as the buyer, without Stripe's page. */
const begin = async (stripe: StripeEnd, buyer: Actor): Promise<Paid> => {
  await buyer.session.post("/api/billing/checkout", { credits: CREDITS });
  const checkout = stripe.checkouts.findLast(({ userId }) => userId === buyer.userId);
  assert.ok(checkout, "Stripe was not asked");
  return { ...checkout, payment: `pi_${randomUUID()}` };
};

/** Credits that payments added, by the end of the payment's id. */
const bookedFor = async (buyer: Actor): Promise<Record<string, number>> => {
  const rows = rowsOf<{ id: string; credits: number }>(await buyer.session.get("/api/me/ledger?limit=200"));
  return Object.fromEntries(rows.filter(({ id }) => id.startsWith("stripe:")).map(({ id, credits }) => [id, credits]));
};

/** Rejected, or unavailable on an installation without payments. */
const isRefused = ({ status }: Answer): boolean => status === 401 || status === 501;

export const paymentCases: AbuseCase[] = [
  {
    id: "payments-forged",
    title: "events of payments that Stripe has not signed, has signed long ago, or that are too large",
    requests: 5,
    attack: async ({ context, stripe, attacker }) => {
      const forged = { checkout: randomUUID(), userId: attacker.userId, amount: 1_000, session: "cs_forged", payment: "pi_forged" };
      const body = completedEvent(forged);
      const genuine = signatureOf(body);
      const attempts: [string, string][] = [
        [body, ""],
        [body, signatureOf(body, { secret: "whsec_guessed" })],
        [body, signatureOf(body, { ageSeconds: 400 })],
        [body.replace("1000", "9000"), genuine],
      ];
      for (const [text, signature] of attempts) {
        const answer = await send(context, text, signature);
        assert.ok(isRefused(answer) || (!stripe && answer.status === 501), `answered ${answer.status}`);
      }
      assert.equal((await send(context, "x".repeat(TOO_LARGE))).status, 413);
      assert.deepEqual(await bookedFor(attacker), {});
    },
  },
  {
    id: "payments-replayed",
    title: "the refund of a payment before the payment, and then both 20 times at once",
    requests: 2 * REPLAYS + 1,
    attack: async ({ context, stripe }) => {
      if (!stripe) return;
      const buyer = await context.actor({ tier: "pro" });
      const checkout = await begin(stripe, buyer);
      const refund = `re_${randomUUID()}`;
      answers(await send(context, refundEvent(refund, checkout, checkout.amount / 4)), 200, { outcome: "taken" });
      const [one, other] = [completedEvent(checkout), refundEvent(refund, checkout, checkout.amount / 4, "pending")];
      const replays = Array.from({ length: 2 * REPLAYS }, (_, index) => send(context, index % 2 ? one : other));
      for (const answer of await Promise.all(replays)) answers(answer, 200, { outcome: "taken" });
      assert.deepEqual(await bookedFor(buyer), { [`stripe:${checkout.session}`]: CREDITS, [`stripe:${refund}`]: -CREDITS / 4 });
    },
  },
  {
    id: "payments-redirected",
    title: "signed events that name another account, another amount, or a checkout of nobody's",
    requests: 4,
    attack: async ({ context, stripe, attacker, victim }) => {
      if (!stripe) return;
      const checkout = await begin(stripe, victim);
      for (const change of [{ userId: attacker.userId }, { amount: 1 }, { checkout: randomUUID() }]) {
        answers(await send(context, completedEvent({ ...checkout, ...change })), 200, { outcome: "refused" });
      }
      assert.deepEqual(await bookedFor(attacker), {});
      const rows = rowsOf<{ action: string; change: { problem?: string } | null }>(await context.admin.get("/api/admin/audit?limit=50"));
      assert.ok(rows.filter(({ action }) => action === "payment.refused").length >= 3, "an administrator finds nothing of it");
    },
  },
];
