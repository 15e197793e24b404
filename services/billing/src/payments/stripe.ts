/** The Stripe client. No other code uses the Stripe library. */
import { DomainError, unavailable } from "@nodeloom/kernel";
import { createEgressClient, guardedFetch, hostAndPort, type EgressClient, type Logger } from "@nodeloom/platform";
import type Stripe from "stripe" with { "resolution-mode": "import" };
import { STRIPE_API, type PaymentSettings } from "./settings";

/** Version of the library. Events must use the same version (docs/operations/paying.md). */
export const STRIPE_API_VERSION = "2026-10-28.endive";
/** Maximum age of a signature. Stripe signs each delivery again. */
const TOLERANCE_SECONDS = 300;
const CALL = { timeoutMs: 10_000, maxBytes: 1024 * 1024 };
/** Retries use the same idempotency key. */
const RETRIES = 2;
const FIRST_SERVER_ERROR = 500;
const TOO_MANY_REQUESTS = 429;
const REFUSED_KEY: ReadonlySet<unknown> = new Set([401, 403]);

export interface CheckoutOrder {
  reference: string;
  userId: string;
  email: string;
  credits: number;
  /** Amount in cents. */
  amount: number;
  currency: string;
  successUrl: string;
  cancelUrl: string;
}

export interface StripePort {
  /** Creates a session. Idempotent by reference. @throws SERVICE_UNAVAILABLE; NOT_CONFIGURED if Stripe rejects the key */
  createSession(order: CheckoutOrder): Promise<{ url: string }>;
  /** @throws SIGNATURE_INVALID for a wrong or expired signature */
  verify(body: Buffer, signature: string): Stripe.Event;
  close(): Promise<void>;
}

/** Names of metadata on sessions and payments. */
export const METADATA = { checkout: "nodeloom_checkout", account: "nodeloom_account", credits: "nodeloom_credits" } as const;

const sessionOf = ({ userId, email, credits, amount, currency, ...order }: CheckoutOrder): Stripe.Checkout.SessionCreateParams => {
  const metadata = { [METADATA.checkout]: order.reference, [METADATA.account]: userId, [METADATA.credits]: String(credits) };
  const name = `${credits.toLocaleString("en")} credits`;
  return {
    mode: "payment",
    client_reference_id: userId,
    ...(email ? { customer_email: email } : {}),
    line_items: [{ quantity: 1, price_data: { currency, unit_amount: amount, product_data: { name } } }],
    metadata,
    payment_intent_data: { metadata, description: name },
    success_url: order.successUrl,
    cancel_url: order.cancelUrl,
  };
};

/** Maps the library's errors. Their messages can contain request data, so they aren't logged. */
const translated = (error: unknown, logger: Logger): DomainError => {
  const { type, code, statusCode, requestId } = error as { type?: string; code?: string; statusCode?: number; requestId?: string };
  logger.warn({ type, code, statusCode, requestId }, "Stripe made no checkout");
  if (REFUSED_KEY.has(statusCode)) {
    return new DomainError("precondition", "NOT_CONFIGURED", "credits can't be bought: Stripe refuses STRIPE_SECRET_KEY");
  }
  const isUnreachable = statusCode === undefined || statusCode >= FIRST_SERVER_ERROR || statusCode === TOO_MANY_REQUESTS;
  return isUnreachable
    ? unavailable("the payment provider can't be reached")
    : new DomainError("internal", "INTERNAL", "Stripe refused the checkout");
};

const egressTo = (apiBase: string): EgressClient =>
  // The operator chose the base URL, so it can be on a private network.
  createEgressClient(apiBase === STRIPE_API ? {} : { ownServers: [hostAndPort(apiBase)] });

export interface StripeOptions {
  settings: Pick<PaymentSettings, "secretKey" | "webhookSecret" | "apiBase">;
  logger: Logger;
  clock?: () => Date;
}

/** Loads the library on demand, because it takes 16 MB and a sixth of a second. */
export const connectStripe = async ({ settings, logger, clock = () => new Date() }: StripeOptions): Promise<StripePort> => {
  const { default: Library } = await import("stripe");
  const { hostname, port, protocol } = new URL(settings.apiBase);
  const egress = egressTo(settings.apiBase);
  const stripe = new Library(settings.secretKey, {
    apiVersion: STRIPE_API_VERSION,
    maxNetworkRetries: RETRIES,
    timeout: CALL.timeoutMs,
    telemetry: false,
    host: hostname,
    protocol: protocol === "http:" ? "http" : "https",
    ...(port === "" ? {} : { port }),
    httpClient: Library.createFetchHttpClient(guardedFetch(egress, CALL) as unknown as typeof fetch),
  });

  return {
    createSession: async (order) => {
      const checkoutSession = await stripe.checkout.sessions
        .create(sessionOf(order), { idempotencyKey: `nodeloom-checkout-${order.reference}` })
        .catch((error: unknown) => {
          throw translated(error, logger);
        });
      if (!checkoutSession.url) throw new DomainError("internal", "INTERNAL", "Stripe returned no address for the payment page");
      return { url: checkoutSession.url };
    },

    verify: (body, signature) => {
      try {
        return stripe.webhooks.constructEvent(body, signature, settings.webhookSecret, TOLERANCE_SECONDS, undefined, clock().getTime());
      } catch {
        throw new DomainError(
          "unauthenticated",
          "SIGNATURE_INVALID",
          "Stripe-Signature is not Stripe's signature of this body, or is too old",
        );
      }
    },

    close: () => egress.close(),
  };
};
