import { randomUUID } from "node:crypto";
import { MICRO_USD_PER_USD, PURCHASE_BOUNDS } from "@nodeloom/kernel";
import { z } from "zod";
import { CHECKOUT_CALL_MS } from "../../http/limits";
import { defineRoute } from "../../edge/route";
import { jsonBody } from "../../http/body/kinds";

/** Buying credits through the operator's payment provider. */

/** Stripe replaces this text by the session's id. */
const SESSION = "{CHECKOUT_SESSION_ID}";

const terms = z
  .object({
    creditPriceUsd: z.number().meta({ description: "Price of one credit, without taxes", example: 0.01 }),
    currency: z.literal("usd"),
    minCredits: z.number(),
    maxCredits: z.number(),
    live: z.boolean().meta({ description: "False: payments are tests, and no money moves" }),
  })
  .meta({ id: "PurchaseTerms" });
const settings = z
  .object({ purchases: terms.nullable().meta({ description: "Null if credits can't be bought" }) })
  .meta({ id: "BillingSettings" });
const order = z
  .strictObject({ credits: z.number().int().min(PURCHASE_BOUNDS.minCredits).max(PURCHASE_BOUNDS.maxCredits) })
  .meta({ id: "CheckoutOrder" });
const checkout = z.object({ url: z.string().meta({ description: "Stripe's page, where the buyer pays" }) }).meta({ id: "Checkout" });

const shared = { tag: "Billing", auth: "session", limit: "user" } as const;

export const paymentRoutes = [
  defineRoute({
    ...shared,
    method: "GET",
    path: "/api/billing",
    operationId: "getBilling",
    summary: "Get the price of credits, if they can be bought",
    role: "viewer",
    responses: { 200: settings },
    handler: async ({ gateway }) => {
      const { terms: paymentTerms } = await gateway.services.payments.getPaymentTerms({});
      if (!paymentTerms) return { status: 200, body: { purchases: null } };
      const { priceMicros, ...rest } = paymentTerms;
      return { status: 200, body: { purchases: { creditPriceUsd: priceMicros / MICRO_USD_PER_USD, currency: "usd", ...rest } } };
    },
  }),
  defineRoute({
    ...shared,
    method: "POST",
    path: "/api/billing/checkout",
    operationId: "createCheckout",
    summary: "Start a purchase of credits",
    description: "Credits are added when Stripe confirms the payment, moments later. Stripe sends the receipt.",
    role: "owner",
    approval: true,
    idempotent: "replay",
    body: jsonBody(order),
    responses: { 200: checkout },
    errors: ["NOT_CONFIGURED", "PRECONDITION_FAILED"],
    example: { credits: 1_000 },
    handler: async ({ gateway, caller, body, executionId }) => {
      const page = `${gateway.publicBaseUrl}/balance`;
      const request = {
        userId: caller.user.id,
        email: caller.user.email,
        credits: body.credits,
        reference: executionId || randomUUID(),
        successUrl: `${page}?session=${SESSION}`,
        cancelUrl: page,
      };
      const { url } = await gateway.services.payments.createCheckout(request, { deadlineMs: CHECKOUT_CALL_MS });
      return { status: 200, body: { url } };
    },
  }),
];
