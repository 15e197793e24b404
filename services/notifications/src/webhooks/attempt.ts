/** Makes attempts at messages: sends and counts them, and reports them to identity, which stores the webhook. */
import type { EgressClient } from "@nodeloom/platform";
import type { identity as identityProto } from "@nodeloom/proto";
import type { Identity } from "../clients";
import { countWebhookAttempt } from "../meters";
import { DELIVERY_ATTEMPTS } from "../timing";
import type { DeliveryRecord, SentAttempt } from "../delivery";
import { createSend, type Message } from "./send";

export const GONE = 410;

/** A key's webhook, or an endpoint. */
export interface Receiver {
  keyId: string;
  endpoint: identityProto.EndpointId | undefined;
}

export const receiverOf = ({ keyId, ownerId, endpointId }: Pick<DeliveryRecord, "keyId" | "ownerId" | "endpointId">): Receiver => ({
  keyId,
  endpoint: endpointId === undefined ? undefined : { ownerId, id: endpointId },
});

type Target = Pick<identityProto.GetWebhookTargetResponse, "url" | "revision" | "secrets">;

export const createAttempt = (egress: EgressClient, timeoutMs?: number) => {
  const send = createSend(egress, timeoutMs);
  return async (target: Target, message: Message): Promise<SentAttempt> => {
    const outcome = await send(target, message);
    countWebhookAttempt(outcome.error === null ? "delivered" : outcome.status === null ? "no answer" : "refused", outcome.durationMs);
    return { url: target.url, revision: target.revision, ...outcome };
  };
};

export interface Outcome {
  delivered: boolean;
  disabled: boolean;
  /** True if the receiver returned 410. */
  isGone: boolean;
  final: boolean;
}

/**
 * Reports attempts to identity. Identity disables a webhook whose receiver returned 410 or has failed for long.
 * @returns the delivery's state after an attempt
 */
export const createReport =
  (identity: Pick<Identity, "disableWebhook" | "reportDelivery">) =>
  async ({ attempt, ...of }: Receiver & { attempt: number }, { url, revision, at, status, error }: SentAttempt): Promise<Outcome> => {
    const delivered = error === null;
    const final = attempt >= DELIVERY_ATTEMPTS;
    const isGone = status === GONE;
    const { disabled } = isGone
      ? await identity.disableWebhook({ ...of, url, revision, reason: "the receiver answered 410 Gone" })
      : await identity.reportDelivery({ ...of, url, revision, at: new Date(at), delivered, final });
    return { delivered, disabled, isGone, final };
  };
