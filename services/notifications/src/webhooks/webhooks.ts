/** Attempts at webhooks: what is sent, to whom, and what comes of it. */
import { randomUUID } from "node:crypto";
import { DomainError, unavailable } from "@nodeloom/kernel";
import type { EgressClient, Logger } from "@nodeloom/platform";
import { executions, type identity as identityProto } from "@nodeloom/proto";
import type { Outgoing } from "../calls/outgoing";
import type { Identity } from "../clients";
import {
  END_OF,
  FIRST_DELIVERY,
  pauseBefore,
  type AttemptId,
  type DeliveryEnd,
  type DeliveryState,
  type Sent,
  type SentAttempt,
} from "../run/delivery";
import { countDelivery, noteFirstAttempt } from "../meters";
import type { ExecutionView } from "../run/record";
import { isFinal, WAITING } from "../run/states";
import type { Stores } from "../store/stores";
import type { Details } from "../requests/view";
import { createAttempt, createReport } from "./attempt";
import { createWaitingMessage, messageData } from "./message";
import { createSend } from "./send";

const TEST_EVENT = "webhook.test";

export const eventOf = ({ status }: Pick<ExecutionView, "status">): string => `execution.${status}`;

/** A webhook that lists no events wants those of runs that are over. */
export const wants = ({ events }: Pick<identityProto.GetWebhookTargetResponse, "events">, event: string): boolean =>
  (events.length === 0 && event !== WAITING) || events.includes(event);

export type Webhooks = ReturnType<typeof createWebhooks>;

export interface WebhooksOptions {
  stores: Stores;
  details: (record: ExecutionView) => Promise<Details>;
  identity: Pick<Identity, "getWebhookTarget" | "disableWebhook" | "reportDelivery">;
  egress: EgressClient;
  outgoing: Pick<Outgoing, "webhook" | "webhookTest">;
  logger: Logger;
  /** Where the console of the platform is. */
  publicBaseUrl: string;
  timeoutMs?: number;
}

export const createWebhooks = ({ stores, details, identity, egress, outgoing, logger, publicBaseUrl, timeoutMs }: WebhooksOptions) => {
  const [send, attemptAt, report] = [createSend(egress, timeoutMs), createAttempt(egress, timeoutMs), createReport(identity)];
  const waitingMessage = createWaitingMessage({ stores, details, publicBaseUrl });

  /** Reports an attempt. @returns how the delivery stands after it */
  const stateAfter = async (id: AttemptId, sent: SentAttempt): Promise<DeliveryState> => {
    const { delivered, disabled, isGone, final } = await report(id, sent);
    if (delivered) return "delivered";
    const { keyId, executionId } = id;
    if (disabled) logger.info({ keyId, executionId, status: sent.status }, "the webhook is disabled");
    if (disabled && (isGone || !final)) return "disabled";
    return final ? "failed" : "pending";
  };

  const sendWaiting = async (record: ExecutionView, nodeId: string, target: identityProto.GetWebhookTargetResponse): Promise<Sent> => {
    if (target.disabled) return { nothing: "disabled" };
    const message = target.url !== "" && wants(target, WAITING) ? await waitingMessage(record, nodeId) : undefined;
    if (!message) return { nothing: "skipped" };
    const later = await outgoing.webhook(record, target.url);
    if (later) throw later;
    return attemptAt(target, message);
  };

  return {
    /**
     * Sends once, if there is anything to send. What came of it must be recorded.
     * @throws TryAgain when it is too many for the user's budget: nothing was sent, and no attempt is counted
     */
    send: async ({ executionId, keyId, delivery, attempt, nodeId }: AttemptId): Promise<Sent> => {
      const [record, target] = await Promise.all([stores.rows.find(executionId), identity.getWebhookTarget({ keyId })]);
      if (!record?.webhook) return { nothing: "skipped" };
      if (nodeId !== undefined) return sendWaiting(record, nodeId, target);
      // The delivery of a run that is being ended from outside may be early. It is tried again.
      if (!isFinal(record)) throw unavailable("the execution is not final yet");
      if (record.webhook.delivery > delivery) return { nothing: "superseded" };
      // It was started by a process that could not note that any more.
      if (record.webhook.delivery < delivery) await stores.deliveries.begin(executionId, delivery, new Date());
      if (target.disabled) return { nothing: "disabled" };
      const type = eventOf(record);
      if (target.url === "" || !wants(target, type)) return { nothing: "skipped" };
      const later = await outgoing.webhook(record, target.url);
      if (later) {
        await stores.deliveries.note(executionId, delivery, "pending", new Date(Date.now() + later.afterMs));
        throw later;
      }
      const message = {
        id: `msg_${executionId}`,
        type,
        timestamp: record.finishedAt ?? record.createdAt,
        data: messageData(await stores.log.whole(record), await details(record)),
      };
      const sent = await attemptAt(target, message);
      if (delivery === FIRST_DELIVERY && attempt === 1) noteFirstAttempt(sent.at - message.timestamp.getTime());
      return sent;
    },

    /**
     * Keeps on the execution how an attempt went, once, however often it is repeated.
     * @returns how the delivery ended; null when there is to be another attempt
     */
    record: async (id: AttemptId, sent: Sent): Promise<DeliveryEnd | null> => {
      const { executionId, delivery, attempt, nodeId } = id;
      if ("nothing" in sent) {
        if (sent.nothing === "superseded") return "superseded";
        if (nodeId === undefined) await stores.deliveries.note(executionId, delivery, sent.nothing, null);
        countDelivery(END_OF[sent.nothing]);
        return END_OF[sent.nothing];
      }
      const state = await stateAfter(id, sent);
      const { at, status, error, durationMs, url } = sent;
      const next = at + durationMs + pauseBefore(attempt + 1, sent.retryAfterMs);
      const entry = { key: `${delivery}:${attempt}`, delivery, attempt, at: new Date(at), status, error, durationMs, url };
      if (nodeId === undefined) await stores.deliveries.record(executionId, entry, state, state === "pending" ? new Date(next) : null);
      if (state === "pending") return null;
      countDelivery(END_OF[state]);
      return END_OF[state];
    },

    /**
     * Sends a test message now, once, whatever events the webhook wants. It changes nothing: a 410 does not disable.
     * @throws NOT_FOUND for another user's key and for one that `madeBy` didn't make, PRECONDITION_FAILED when there is no enabled webhook, RATE_LIMIT_EXCEEDED
     */
    test: async ({ keyId, userId, madeBy }: executions.TestWebhookRequest): Promise<executions.TestWebhookResponse> => {
      const target = await identity.getWebhookTarget({ keyId, userId, madeBy });
      if (target.url === "")
        throw new DomainError(
          "precondition",
          "PRECONDITION_FAILED",
          "the key has no webhook, or a disabled one, or may not receive webhooks",
        );
      await outgoing.webhookTest(userId, target.url);
      const message = { id: `msg_${randomUUID()}`, type: TEST_EVENT, timestamp: new Date(), data: { keyId } };
      const { status, error, durationMs } = await send(target, message);
      return executions.TestWebhookResponse.fromPartial({
        delivered: error === null,
        status: status ?? undefined,
        error: error ?? undefined,
        durationMs,
      });
    },
  };
};
