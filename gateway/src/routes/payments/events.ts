import { createHash } from "node:crypto";
import { identity, payments } from "@nodeloom/proto";
import { z } from "zod";
import { PAYMENT_EVENT_BYTES, PAYMENT_EVENTS_PER_MINUTE } from "../../http/limits";
import { defineRoute, type CallContext } from "../../edge/route";
import { signedBody } from "../../http/body/kinds";

/** Receives Stripe's payment events. */

/** Actor of audit rows. */
const ACTOR = "stripe";

const receipt = z
  .object({ outcome: z.enum(["taken", "ignored", "refused"]).meta({ description: "`refused`: the audit log has the reason" }) })
  .meta({ id: "PaymentEventReceipt" });

const OUTCOMES: Partial<Record<payments.PaymentEventOutcome, z.infer<typeof receipt>["outcome"]>> = {
  [payments.PaymentEventOutcome.PAYMENT_EVENT_OUTCOME_TAKEN]: "taken",
  [payments.PaymentEventOutcome.PAYMENT_EVENT_OUTCOME_IGNORED]: "ignored",
  [payments.PaymentEventOutcome.PAYMENT_EVENT_OUTCOME_REFUSED]: "refused",
};

/**
 * Writes one audit row per event, however often Stripe sends it. If writing fails, the event isn't acknowledged, and Stripe sends it again.
 */
const auditRefusal = async (
  { gateway, response }: Pick<CallContext, "gateway" | "response">,
  { eventId, eventType, subject, userId, problem }: payments.ReceivePaymentEventResponse,
): Promise<void> => {
  const row = identity.AuditRow.fromPartial({
    id: createHash("sha256").update(`${ACTOR} ${eventId}`).digest("base64url"),
    actorId: ACTOR,
    action: "payment.refused",
    target: userId || subject || eventId,
    changeJson: JSON.stringify({ event: eventId, type: eventType, subject, problem }),
    requestId: String(response.getHeader("X-Request-Id") ?? ""),
    outcome: identity.AuditOutcome.AUDIT_OUTCOME_FAILED,
    errorCode: "PRECONDITION_FAILED",
  });
  await gateway.services.identity.recordAudit({ row });
};

export const paymentEventRoutes = [
  defineRoute({
    method: "POST",
    path: "/api/billing/events",
    operationId: "receivePaymentEvent",
    summary: "Receive an event from Stripe",
    description:
      "Events can arrive more than once and in any order. An event that can't be processed gets `refused` if sending it again would change nothing, and an error otherwise.",
    tag: "Billing",
    auth: "none",
    role: "self",
    limit: { ip: PAYMENT_EVENTS_PER_MINUTE },
    body: signedBody(PAYMENT_EVENT_BYTES),
    responses: { 200: receipt },
    errors: ["NOT_CONFIGURED", "SIGNATURE_INVALID", "INVALID_REQUEST"],
    handler: async (context) => {
      const { gateway, request, body } = context;
      const event = { body, signature: request.get("stripe-signature") ?? "" };
      const received = await gateway.services.payments.receivePaymentEvent(event);
      const outcome = OUTCOMES[received.outcome];
      if (!outcome) throw new Error("billing answered without an outcome");
      if (outcome === "refused") await auditRefusal(context, received);
      return { status: 200, body: { outcome } };
    },
  }),
];
