import { CONFLICT_ATTEMPTS, DomainError, invalidRequest, MILLICREDITS_PER_CREDIT, PURCHASE_BOUNDS, unavailable } from "@nodeloom/kernel";
import { eventCounter, retryOnConflict, type Logger } from "@nodeloom/platform";
import { z } from "zod";
import type { Billing } from "../billing";
import { BILLING_LIMITS } from "../limits";
import { envelopeOf, factOf, type EventFact, type PaidSession } from "./events";
import { emptyPayment, inOtherCurrency, movementsOf, withFact, type Payment, type PaymentFact } from "./payment";
import type { Checkout, PaymentStore } from "./payment-store";
import type { PaymentSettings } from "./settings";
import type { StripePort } from "./stripe";

const CURRENCY = "usd";
/** Credit prices are in millionths of a dollar, Stripe's amounts in cents. */
const MICROS_PER_CENT = 10_000;
const DAY_MS = 86_400_000;
const MAX_PAUSE_MS = 40;

export interface PaymentTerms {
  priceMicros: number;
  minCredits: number;
  maxCredits: number;
  live: boolean;
}

export interface CheckoutRequest {
  userId: string;
  email: string;
  credits: number;
  reference: string;
  successUrl: string;
  cancelUrl: string;
}

/** Outcome of an event. A rejected event has a reason, and sending it again doesn't help. */
export interface EventReceipt {
  id: string;
  type: string;
  outcome: "taken" | "ignored" | "refused";
  subject: string;
  userId: string;
  problem: string;
}

export interface Payments {
  /** Undefined if purchases are disabled. */
  terms(): PaymentTerms | undefined;
  /**
   * Returns the URL of the payment page. @throws NOT_CONFIGURED, INVALID_REQUEST, PRECONDITION_FAILED at the daily limit,
   * SERVICE_UNAVAILABLE
   */
  checkout(request: CheckoutRequest): Promise<{ url: string }>;
  /**
   * Processes an event. Idempotent, and independent of the order of events. @throws NOT_CONFIGURED, SIGNATURE_INVALID, INVALID_REQUEST,
   * SERVICE_UNAVAILABLE
   */
  receive(body: Buffer, signature: string, deadlineMs?: number): Promise<EventReceipt>;
}

export interface PaymentDependencies {
  store: PaymentStore;
  billing: Pick<Billing, "book">;
  /** Undefined if the payment provider isn't configured. */
  provider: { settings: PaymentSettings; stripe: StripePort } | undefined;
  logger: Logger;
  clock?: () => Date;
}

const checkoutRequest = z.object({
  userId: z.string().min(1).max(BILLING_LIMITS.idChars),
  email: z.string(),
  credits: z.number().int().min(PURCHASE_BOUNDS.minCredits).max(PURCHASE_BOUNDS.maxCredits),
  reference: z.string().min(1).max(BILLING_LIMITS.idChars),
  successUrl: z.url(),
  cancelUrl: z.url(),
});

const count = eventCounter("nodeloom.payment.events", "events of the payment provider, by what became of them");

const notConfigured = (): DomainError =>
  new DomainError("precondition", "NOT_CONFIGURED", "credits can't be bought here: STRIPE_SECRET_KEY is not set");

/** Returns the price in cents, rounded up. */
export const priceOf = (credits: number, priceMicros: number): number => Math.ceil((credits * priceMicros) / MICROS_PER_CENT);

/** Describes the difference between a paid session and its order; undefined if they agree. */
const problemOf = (session: PaidSession, checkout: Checkout | undefined): string | undefined => {
  if (!checkout) return "no such checkout was begun here";
  if (!session.isConsistent || session.userId !== checkout.userId) return "it names another account than the checkout's";
  if (session.currency !== checkout.currency) return `paid in ${session.currency ?? "no currency"}, not in ${checkout.currency}`;
  if (session.amount !== checkout.amount) return `${session.amount ?? 0} cents were paid, not ${checkout.amount}`;
  return undefined;
};

const subjectOf = (fact: EventFact): string => (fact.type === "session" ? fact.session : fact.reversal.id);

export const createPayments = ({ store, billing, provider, logger, clock = () => new Date() }: PaymentDependencies): Payments => {
  const configured = (): NonNullable<typeof provider> => {
    if (!provider) throw notConfigured();
    return provider;
  };

  /** Stores the order at the current price. */
  const begin = async ({ userId, credits, reference }: CheckoutRequest, { priceMicros }: PaymentSettings): Promise<Checkout> => {
    const checkoutCount = await store.countCheckouts(userId, new Date(clock().getTime() - DAY_MS));
    if (checkoutCount >= BILLING_LIMITS.checkoutsPerDay) {
      const message = `you can start at most ${BILLING_LIMITS.checkoutsPerDay} purchases per day`;
      throw new DomainError("precondition", "PRECONDITION_FAILED", message);
    }
    const amount = priceOf(credits, priceMicros);
    const millicredits = credits * MILLICREDITS_PER_CREDIT;
    const checkout = { id: reference, userId, millicredits, amount, currency: CURRENCY, at: clock() };
    if (await store.addCheckout(checkout)) return checkout;
    // A concurrent attempt with the same reference won.
    return (await store.findCheckout(reference)) ?? checkout;
  };

  const keep = async (fact: PaymentFact): Promise<Payment> => {
    const attempt = async (): Promise<Payment | undefined> => {
      const before = (await store.findPayment(fact.payment)) ?? emptyPayment(fact.payment);
      const after = withFact(before, fact);
      return after === before || (await store.commitPayment(before, after, clock())) ? after : undefined;
    };
    const result = await retryOnConflict(CONFLICT_ATTEMPTS.account, attempt, () => Math.random() * MAX_PAUSE_MS);
    if (!result) throw unavailable("too much is happening to this payment");
    return result;
  };

  /**
   * Returns the purchase in a session, or the reason to reject it. An accepted session isn't compared again, because its checkout may have
   * been removed.
   */
  const purchaseOf = async (paidSession: PaidSession): Promise<PaymentFact | string> => {
    const { payment, session, checkout } = paidSession;
    const earlierPurchase = (await store.findPayment(payment))?.purchase;
    if (earlierPurchase?.session === session) return { payment, type: "purchase", purchase: earlierPurchase };
    const order = await store.findCheckout(checkout);
    const problem = problemOf(paidSession, order);
    if (problem !== undefined || !order) return problem ?? "";
    const { userId, millicredits, amount, currency } = order;
    return { payment, type: "purchase", purchase: { session, checkout, userId, millicredits, amount, currency } };
  };

  /** Books all movements of a payment. @returns the reason if some can't be booked */
  const book = async (payment: Payment, deadlineMs: number | undefined): Promise<string> => {
    const { purchase } = payment;
    if (!purchase) return "";
    await billing.book({ userId: purchase.userId, movements: movementsOf(payment) }, deadlineMs);
    return inOtherCurrency(payment)
      .map(({ id, currency }) => `${id} is in ${currency}, and the purchase in ${purchase.currency}`)
      .join("; ");
  };

  const take = async (fact: EventFact, deadlineMs: number | undefined): Promise<{ userId: string; problem: string }> => {
    const purchase = fact.type === "session" ? await purchaseOf(fact) : fact;
    if (typeof purchase === "string") return { userId: fact.type === "session" ? fact.userId : "", problem: purchase };
    const payment = await keep(purchase);
    return { userId: payment.purchase?.userId ?? "", problem: await book(payment, deadlineMs) };
  };

  return {
    terms: () => provider && { priceMicros: provider.settings.priceMicros, live: provider.settings.live, ...PURCHASE_BOUNDS },

    checkout: async (request) => {
      const { settings, stripe } = configured();
      const parsed = checkoutRequest.safeParse(request);
      if (!parsed.success) throw invalidRequest(parsed.error.issues.map(({ path, message }) => ({ path: path.join("."), message })));
      const { userId, credits, reference } = request;
      const checkout = (await store.findCheckout(reference)) ?? (await begin(request, settings));
      if (checkout.userId !== userId || checkout.millicredits !== credits * MILLICREDITS_PER_CREDIT) {
        throw new DomainError("conflict", "IDEMPOTENCY_KEY_REUSED", "this reference names another checkout");
      }
      return stripe.createSession({ ...request, amount: checkout.amount, currency: checkout.currency });
    },

    receive: async (body, signature, deadlineMs) => {
      const { settings, stripe } = configured();
      const event = stripe.verify(body, signature);
      const { id, type, livemode } = envelopeOf(event);
      if (livemode !== settings.live) {
        logger.error(
          { event: id, type, livemode },
          "an event of Stripe's other mode: its endpoint's secret and STRIPE_SECRET_KEY don't belong together",
        );
        throw invalidRequest([
          { path: "livemode", message: `is ${livemode}, and the key is for ${settings.live ? "live" : "test"} payments` },
        ]);
      }
      const fact = factOf(event);
      const result = fact ? await take(fact, deadlineMs) : { userId: "", problem: "" };
      const outcome = result.problem ? "refused" : fact ? "taken" : "ignored";
      count({ outcome });
      const receipt = { id, type, outcome, subject: fact ? subjectOf(fact) : "", ...result } as const;
      if (outcome === "refused") logger.error({ event: receipt }, "an event of Stripe could not be taken");
      return receipt;
    },
  };
};
