/** Makes attempts at webhooks: looks up the target of a message, checks if the message is still wanted, and records the result. */
import { randomUUID } from "node:crypto";
import { DomainError } from "@nodeloom/kernel";
import type { EgressClient, Logger, TakeOutgoing } from "@nodeloom/platform";
import { notifications, type identity as identityProto } from "@nodeloom/proto";
import type { Executions, Identity } from "../clients";
import { countDelivery, countPostponed, noteFirstAttempt } from "../meters";
import type { DeliveryStore } from "../store/deliveries";
import { DELIVERY_ATTEMPTS, pauseBefore, TIMING } from "../timing";
import type { OwnersMails } from "../mail/owners";
import { createAttempt, createReport, GONE, receiverOf } from "./attempt";
import { createReadMessage } from "./body";
import {
  END_OF,
  FIRST_DELIVERY,
  type AttemptId,
  type DeliveryRecord,
  type DeliveryState,
  type DeliveryStep,
  type AttemptResult,
  type SentAttempt,
} from "../delivery";
import { createSend } from "./send";

/** A message by which an owner tries a webhook or endpoint, whatever its events are. */
export const TEST_EVENT = "webhook.test";
/** Events of webhooks that list no events: a run completed, failed or was cancelled. */
const BY_DEFAULT: readonly string[] = ["execution.completed", "execution.failed", "execution.cancelled"];

export const wants = ({ events }: Pick<identityProto.GetWebhookTargetResponse, "events">, event: string): boolean =>
  event === TEST_EVENT || (events.length === 0 ? BY_DEFAULT.includes(event) : events.includes(event));

/** True if a stored webhook or endpoint gets an event. */
export const isReceiver = ({ disabledAt, events }: { disabledAt?: Date | undefined; events: string[] }, event: string): boolean =>
  disabledAt === undefined && wants({ events }, event);

/** Looks up the target of a message: an endpoint, the run's own webhook, or the key's webhook. */
export const createReadTarget =
  (identity: Pick<Identity, "getWebhookTarget">) =>
  async (record: Pick<DeliveryRecord, "keyId" | "ownerId" | "url" | "events" | "endpointId">) => {
    const { ownerId, url, events = [] } = record;
    if (url === undefined) return identity.getWebhookTarget(receiverOf(record));
    const { secrets } = await identity.getWebhookTarget({ keyId: "", runOf: ownerId });
    return { url, events, secrets, disabled: false, revision: "" };
  };

/** Thrown if an attempt exceeds its owner's limit on outgoing requests. Nothing was sent, and the attempt is made later. */
export class PostponedAttempt extends Error {
  constructor(
    message: string,
    readonly afterMs: number,
  ) {
    super(message);
    this.name = "Postponed";
  }
}

/** Error if an owner sends too many tests, or undefined. */
export const testLimit = async (outgoing: TakeOutgoing, userId: string, url: string): Promise<DomainError | undefined> => {
  const over = await outgoing("tests", { userId }, url);
  if (!over) return undefined;
  const metadata = { limit: over.limit, retryAfter: Math.max(1, Math.ceil(over.afterMs / 1_000)) };
  return new DomainError("exhausted", "RATE_LIMIT_EXCEEDED", `${over.name}: webhook tests`, metadata);
};

/** Returns the state after an attempt at a run's own webhook, which can't be disabled. */
const ownStateAfter = (attempt: number, { error, status }: SentAttempt): DeliveryState => {
  if (error === null) return "delivered";
  return status === GONE || attempt >= DELIVERY_ATTEMPTS ? "failed" : "pending";
};

export type Webhooks = ReturnType<typeof createWebhooks>;

export interface WebhooksOptions {
  store: Pick<DeliveryStore, "find" | "note" | "record">;
  identity: Pick<Identity, "getWebhookTarget" | "disableWebhook" | "reportDelivery" | "getAuditRow" | "listKeys">;
  executions: Pick<Executions, "getWebhookMessage">;
  egress: EgressClient;
  outgoing: TakeOutgoing;
  /** Undefined if no mail server is configured. */
  mails: OwnersMails | undefined;
  logger: Logger;
  timeoutMs?: number;
}

export const createWebhooks = ({ store, identity, executions, egress, outgoing, mails, logger, timeoutMs }: WebhooksOptions) => {
  const [send, attemptAt, report] = [createSend(egress, timeoutMs), createAttempt(egress, timeoutMs), createReport(identity)];
  const readTarget = createReadTarget(identity);
  const readMessage = createReadMessage({ executions, identity });

  /**
   * Reports an attempt.
   * @returns the delivery's state after the attempt
   */
  const stateAfter = async (record: DeliveryRecord, attempt: number, attemptResult: SentAttempt): Promise<DeliveryState> => {
    if (record.url !== undefined) return ownStateAfter(attempt, attemptResult);
    // A test has one attempt, and never disables the endpoint.
    if (record.event === TEST_EVENT) return attemptResult.error === null ? "delivered" : "failed";
    const { _id, keyId, ownerId, endpointId } = record;
    const { delivered, disabled, isGone, final } = await report({ ...receiverOf(record), attempt }, attemptResult);
    if (delivered) return "delivered";
    if (disabled) logger.info({ keyId, endpointId, message: _id, status: attemptResult.status }, "the webhook is disabled");
    // Settings that are changed or enabled later have a new revision, and therefore their own email.
    if (disabled && endpointId !== undefined)
      await mails?.addForOwners(
        ownerId,
        { kind: "endpointDisabled", endpointUrl: attemptResult.url },
        `${endpointId}.${attemptResult.revision}`,
      );
    if (disabled && (isGone || !final)) return "disabled";
    return final ? "failed" : "pending";
  };

  /** @throws Postponed */
  const assertInBudget = async ({ _id, ownerId, baseTier, delivery }: DeliveryRecord, url: string): Promise<void> => {
    const over = await outgoing("webhooks", { userId: ownerId, baseTier }, url);
    if (!over) return;
    countPostponed();
    const afterMs = Math.min(over.pauseMs, TIMING.outgoingWait);
    await store.note(_id, delivery, "pending", new Date(Date.now() + afterMs));
    throw new PostponedAttempt(over.name, afterMs);
  };

  return {
    /**
     * Sends the message once, if there is anything to send. The caller must record the result.
     * @throws Postponed if the owner's limit is exceeded; the attempt isn't counted
     */
    send: async ({ id, delivery, attempt }: AttemptId): Promise<AttemptResult> => {
      const record = await store.find(id);
      if (record?.state !== "pending" || record.delivery !== delivery) return { nothing: "superseded" };
      const target = await readTarget(record);
      if (target.disabled) return { nothing: "disabled" };
      if (target.url === "" || !wants(target, record.event)) return { nothing: "skipped" };
      const message = await readMessage(record);
      if (!message) return { nothing: "skipped" };
      await assertInBudget(record, target.url);
      const attemptResult = await attemptAt(target, message);
      if (record.about.kind === "run" && record.about.nodeId === undefined && delivery === FIRST_DELIVERY && attempt === 1)
        noteFirstAttempt(attemptResult.at - message.timestamp.getTime());
      return attemptResult;
    },

    /** Records an attempt once, however often it is called. */
    record: async ({ id, delivery, attempt }: AttemptId, attemptResult: AttemptResult): Promise<DeliveryStep> => {
      const record = await store.find(id);
      const nothing = "nothing" in attemptResult ? attemptResult.nothing : undefined;
      if (!record || nothing === "superseded") return { end: "superseded" };
      if (nothing !== undefined) {
        await store.note(id, delivery, nothing, null);
        countDelivery(END_OF[nothing]);
        return { end: END_OF[nothing] };
      }
      const state = await stateAfter(record, attempt, attemptResult as SentAttempt);
      const { at, status, error, durationMs, url, retryAfterMs } = attemptResult as SentAttempt;
      const pauseMs = pauseBefore(attempt + 1, retryAfterMs);
      const entry = { key: `${delivery}:${attempt}`, delivery, attempt, at: new Date(at), status, error, durationMs, url };
      await store.record(id, entry, state, state === "pending" ? new Date(at + durationMs + pauseMs) : null);
      if (state === "pending") return { pauseMs };
      countDelivery(END_OF[state]);
      return { end: END_OF[state] };
    },

    /**
     * Sends a test message once, for any events of the webhook. It changes nothing: a 410 doesn't disable the webhook.
     * @throws NOT_FOUND for another user's key, or a key that `madeBy` didn't create; PRECONDITION_FAILED without an enabled webhook;
     *   RATE_LIMIT_EXCEEDED
     */
    test: async ({ keyId, userId, madeBy }: notifications.TestWebhookRequest): Promise<notifications.TestWebhookResponse> => {
      const target = await identity.getWebhookTarget({ keyId, userId, madeBy });
      if (target.url === "")
        throw new DomainError(
          "precondition",
          "PRECONDITION_FAILED",
          "the key has no webhook, or a disabled one, or may not receive webhooks",
        );
      const over = await testLimit(outgoing, userId, target.url);
      if (over) throw over;
      const message = { id: `msg_${randomUUID()}`, type: TEST_EVENT, timestamp: new Date(), data: { keyId } };
      const { status, error, durationMs } = await send(target, message);
      return notifications.TestWebhookResponse.fromPartial({
        delivered: error === null,
        status: status ?? undefined,
        error: error ?? undefined,
        durationMs,
      });
    },
  };
};
