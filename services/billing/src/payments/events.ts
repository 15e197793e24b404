import { invalidRequest } from "@nodeloom/kernel";
import type Stripe from "stripe" with { "resolution-mode": "import" };
import { z } from "zod";
import type { Reversal, Stage } from "./payment";
import { METADATA } from "./stripe";

/** Parses events. The signature proves only the sender of an event. Queries and sums need the exact form. */

/** A paid session in Stripe's event, to compare with the checkout. */
export interface PaidSession {
  type: "session";
  session: string;
  payment: string;
  checkout: string;
  userId: string;
  /** True if all references to the account agree. */
  isConsistent: boolean;
  amount: number | null;
  currency: string | null;
}

export interface PaidBack {
  type: "reversal";
  payment: string;
  reversal: Reversal;
}

export type EventFact = PaidSession | PaidBack;

const MAX_ID_CHARS = 255;

const id = z.string().min(1).max(MAX_ID_CHARS);
/** An id, or an expanded object that contains it. */
const reference = z
  .union([id, z.object({ id }).transform((object) => object.id)])
  .nullish()
  .transform((text) => text ?? "");
/** Amount in the smallest unit of the currency. */
const amount = z.number().int().nonnegative();
const currency = z.string().max(MAX_ID_CHARS);

const session = z.object({
  id,
  payment_intent: reference,
  payment_status: z.string(),
  client_reference_id: z.string().nullish(),
  amount_total: amount.nullish(),
  currency: currency.nullish(),
  metadata: z.record(z.string(), z.string()).nullish(),
});
const reversal = z.object({ id, payment_intent: reference, amount, currency, status: z.string().nullish() });

/** @throws INVALID_REQUEST with the path of the invalid member */
const read = <T>(schema: z.ZodType<T>, value: unknown, place: readonly string[]): T => {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  throw invalidRequest(parsed.error.issues.map(({ path, message }) => ({ path: [...place, ...path].join("."), message })));
};

const envelope = z.object({ id, type: z.string().min(1).max(MAX_ID_CHARS), livemode: z.boolean() });
export type Envelope = z.infer<typeof envelope>;

/** Common members of all events. @throws INVALID_REQUEST */
export const envelopeOf = (event: Stripe.Event): Envelope => read(envelope, event, []);

const REFUND_STAGES: Readonly<Record<string, Stage>> = { failed: "returned", canceled: "returned" };
/** Stages of disputes that move money. Inquiries, and disputes that are settled otherwise, move no money. */
const DISPUTE_STAGES: Readonly<Record<string, Stage>> = {
  needs_response: "taken",
  under_review: "taken",
  lost: "taken",
  won: "returned",
};
const stageOf = (stages: Readonly<Record<string, Stage>>, status: string | null | undefined, otherwise: Stage): Stage =>
  status && Object.hasOwn(stages, status) ? stages[status]! : otherwise;

/** Other sellers on the same Stripe account have sessions without a checkout of this platform. */
const paidSession = ({ metadata, payment_intent: payment, ...fields }: z.infer<typeof session>): PaidSession | undefined => {
  const checkout = metadata?.[METADATA.checkout];
  if (!checkout || fields.payment_status !== "paid" || payment === "") return undefined;
  const userId = metadata?.[METADATA.account] ?? "";
  return {
    ...{ type: "session", session: fields.id, payment, checkout, userId },
    isConsistent: userId !== "" && fields.client_reference_id === userId,
    amount: fields.amount_total ?? null,
    currency: fields.currency ?? null,
  };
};

const paidBack = (event: z.infer<typeof reversal>, stage: Stage): PaidBack | undefined => {
  const { payment_intent: payment, ...rest } = event;
  if (payment === "") return undefined;
  return { type: "reversal", payment, reversal: { id: rest.id, amount: rest.amount, currency: rest.currency, stage } };
};

/**
 * Returns the relevant fact of an event; undefined for irrelevant events.
 * @throws INVALID_REQUEST if a relevant event doesn't have the form that Stripe documents
 */
export const factOf = (event: Stripe.Event): EventFact | undefined => {
  const object = <T>(schema: z.ZodType<T>): T => read(schema, (event.data as { object?: unknown } | undefined)?.object, ["data", "object"]);
  switch (event.type) {
    case "checkout.session.completed":
    case "checkout.session.async_payment_succeeded":
      return paidSession(object(session));
    case "refund.created":
    case "refund.updated":
    case "refund.failed": {
      const refund = object(reversal);
      return paidBack(refund, stageOf(REFUND_STAGES, refund.status, "taken"));
    }
    case "charge.dispute.created":
    case "charge.dispute.updated":
    case "charge.dispute.closed": {
      const dispute = object(reversal);
      return paidBack(dispute, stageOf(DISPUTE_STAGES, dispute.status, "notice"));
    }
    default:
      return undefined;
  }
};
