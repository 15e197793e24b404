import { requestContext, unary } from "@nodeloom/platform";
import { payments as proto } from "@nodeloom/proto";
import type { EventReceipt, Payments } from "./payments";

const OUTCOMES: Readonly<Record<EventReceipt["outcome"], proto.PaymentEventOutcome>> = {
  taken: proto.PaymentEventOutcome.PAYMENT_EVENT_OUTCOME_TAKEN,
  ignored: proto.PaymentEventOutcome.PAYMENT_EVENT_OUTCOME_IGNORED,
  refused: proto.PaymentEventOutcome.PAYMENT_EVENT_OUTCOME_REFUSED,
};

export const paymentsHandlers = (payments: Payments): proto.PaymentsServiceServer => ({
  getPaymentTerms: unary(() => Promise.resolve(proto.GetPaymentTermsResponse.fromPartial({ terms: payments.terms() }))),

  createCheckout: unary(async (request) => proto.CreateCheckoutResponse.fromPartial(await payments.checkout(request))),

  receivePaymentEvent: unary(async ({ body, signature }) => {
    const { id, type, outcome, ...rest } = await payments.receive(Buffer.from(body), signature, requestContext()?.deadlineMs);
    return proto.ReceivePaymentEventResponse.fromPartial({ eventId: id, eventType: type, outcome: OUTCOMES[outcome], ...rest });
  }),
});
