import type Stripe from "stripe" with { "resolution-mode": "import" };
import type { Reversal, Stage } from "./payment";
import { METADATA } from "./stripe";

/** What events say, in our terms. */

/** A paid session by Stripe's event, to be compared with what was asked for. */
export interface PaidSession {
  type: "session";
  session: string;
  payment: string;
  checkout: string;
  userId: string;
  /** Whether all that names the account names the same. */
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

type Refund = Pick<Stripe.Refund, "id" | "amount" | "currency" | "status" | "payment_intent">;
type Dispute = Pick<Stripe.Dispute, "id" | "amount" | "currency" | "status" | "payment_intent">;

const idOf = (reference: string | { id: string } | null | undefined): string =>
  typeof reference === "string" ? reference : (reference?.id ?? "");

const REFUND_STAGES: Readonly<Record<string, Stage>> = { failed: "returned", canceled: "returned" };
/** Of others no money is moved: inquiries, and what was settled otherwise. */
const DISPUTE_STAGES: Readonly<Record<string, Stage>> = {
  needs_response: "taken",
  under_review: "taken",
  lost: "taken",
  won: "returned",
};

/** Sessions of other sellers on the same Stripe account have no checkout of ours. */
const paidSession = (session: Stripe.Checkout.Session): PaidSession | undefined => {
  const checkout = session.metadata?.[METADATA.checkout];
  const payment = idOf(session.payment_intent);
  if (!checkout || session.payment_status !== "paid" || payment === "") return undefined;
  const userId = session.metadata?.[METADATA.account] ?? "";
  return {
    ...{ type: "session", session: session.id, payment, checkout, userId },
    isConsistent: userId !== "" && session.client_reference_id === userId,
    amount: session.amount_total,
    currency: session.currency,
  };
};

const paidBack = ({ id, amount, currency, payment_intent }: Refund | Dispute, stage: Stage): PaidBack | undefined => {
  const payment = idOf(payment_intent);
  return payment === "" ? undefined : { type: "reversal", payment, reversal: { id, amount, currency, stage } };
};

/** What an event says that matters here; undefined for any other. */
export const factOf = (event: Stripe.Event): EventFact | undefined => {
  switch (event.type) {
    case "checkout.session.completed":
    case "checkout.session.async_payment_succeeded":
      return paidSession(event.data.object);
    case "refund.created":
    case "refund.updated":
    case "refund.failed":
      return paidBack(event.data.object, REFUND_STAGES[event.data.object.status ?? ""] ?? "taken");
    case "charge.dispute.created":
    case "charge.dispute.updated":
    case "charge.dispute.closed":
      return paidBack(event.data.object, DISPUTE_STAGES[event.data.object.status] ?? "notice");
    default:
      return undefined;
  }
};
