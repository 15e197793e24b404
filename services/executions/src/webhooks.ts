import { randomUUID } from "node:crypto";
import { DomainError } from "@nodeloom/kernel";
import { EgressError, executionJson, type EgressClient, type Logger } from "@nodeloom/platform";
import { executions, type identity as identityProto } from "@nodeloom/proto";
import { Webhook } from "standardwebhooks";
import type { Identity } from "./clients";
import { parseRetryAfter } from "./retry-after";
import { isFinal, type ExecutionStore, type ExecutionView } from "./store";
import type { DeliveryInput, DeliveryResult } from "./temporal/activity-types";
import { TIMING } from "./timing";
import { executionMessage } from "./view";

const MAX_ANSWER_BYTES = 64 * 1024;
const GONE = 410;
const SECRET_PREFIX = "whsec_";
const MAX_RETRY_AFTER_MS = 24 * 3_600_000;
const TEST_EVENT = "webhook.test";

/** One signature per secret that is valid now, as Standard Webhooks has it. */
const sign = (secrets: readonly string[], id: string, at: Date, body: string): string =>
  secrets.map((secret) => new Webhook(secret.slice(SECRET_PREFIX.length)).sign(id, at, body)).join(" ");

const retryAfterMs = (header: string | undefined): number | null => {
  const ms = parseRetryAfter(header) ?? 0;
  return ms > 0 ? Math.min(ms, MAX_RETRY_AFTER_MS) : null;
};

const resultOf = (record: ExecutionView): unknown => (record.resultJson === null ? undefined : (JSON.parse(record.resultJson) as unknown));

interface Message {
  id: string;
  type: string;
  data: unknown;
}

/** How one attempt went. */
interface Outcome {
  delivered: boolean;
  /** Undefined when there was no answer. */
  status: number | undefined;
  error: string | undefined;
  retryAfterMs: number | null;
}

type Target = Pick<identityProto.GetWebhookTargetResponse, "url" | "secrets">;

/** Signs a message and sends it once. Redirects are not followed: they are failures. */
const createSend =
  (egress: EgressClient) =>
  async ({ url, secrets }: Target, { id, type, data }: Message): Promise<Outcome> => {
    const at = new Date();
    const body = JSON.stringify({ type, timestamp: at.toISOString(), data });
    const headers = {
      "content-type": "application/json",
      "webhook-id": id,
      "webhook-timestamp": String(Math.floor(at.getTime() / 1_000)),
      "webhook-signature": sign(secrets, id, at, body),
    };
    try {
      const { status, headers: answer } = await egress.request({
        url,
        method: "POST",
        headers,
        body,
        timeoutMs: TIMING.webhookAttempt,
        maxBytes: MAX_ANSWER_BYTES,
      });
      const delivered = status >= 200 && status < 300;
      const error = delivered ? undefined : `the receiver answered ${status}`;
      return { delivered, status, error, retryAfterMs: retryAfterMs(answer["retry-after"]) };
    } catch (error) {
      if (!(error instanceof EgressError)) throw error;
      return { delivered: false, status: undefined, error: error.message, retryAfterMs: null };
    }
  };

export type Webhooks = ReturnType<typeof createWebhooks>;

/** Signs and sends webhooks, one attempt at a time. */
export const createWebhooks = ({
  store,
  identity,
  egress,
  logger,
}: {
  store: ExecutionStore;
  identity: Identity;
  egress: EgressClient;
  logger: Logger;
}) => {
  const send = createSend(egress);
  return {
    /** One attempt. Its outcome is kept on the execution; the answer says whether there should be another. */
    deliver: async ({ executionId, keyId }: DeliveryInput): Promise<DeliveryResult> => {
      const record = await store.find(executionId);
      const target = await identity.getWebhookTarget({ keyId });
      const type = `execution.${record?.status ?? ""}`;
      // The delivery of a run that is being ended from outside may be early. It is tried again.
      if (record && !isFinal(record)) throw new DomainError("unavailable", "SERVICE_UNAVAILABLE", "the execution is not final yet");
      if (!record?.webhook || target.url === "" || target.secrets.length === 0) return { done: true };
      if (target.events.length > 0 && !target.events.includes(type)) return { done: true };
      const data = executionJson(executionMessage(record), resultOf(record));
      const outcome = await send(target, { id: `msg_${executionId}`, type, data });
      const deliveredAt = outcome.delivered ? new Date() : null;
      await store.recordDelivery(executionId, { deliveredAt, lastError: outcome.error ?? null });
      if (outcome.delivered) return { done: true };
      if (outcome.status !== GONE) return { done: false, retryAfterMs: outcome.retryAfterMs };
      await identity.disableWebhook({ keyId, url: target.url, reason: "the receiver answered 410 Gone" });
      logger.info({ keyId, executionId }, "webhook disabled after 410");
      return { done: true };
    },

    /**
     * Sends a test message now, once, whatever events the webhook wants. It changes nothing: a 410 does not disable.
     * @throws NOT_FOUND for another user's key, PRECONDITION_FAILED when there is no enabled webhook
     */
    test: async ({ keyId, userId }: executions.TestWebhookRequest): Promise<executions.TestWebhookResponse> => {
      const target = await identity.getWebhookTarget({ keyId, userId });
      if (target.url === "" || target.secrets.length === 0) {
        throw new DomainError("precondition", "PRECONDITION_FAILED", "the key has no webhook, or a disabled one");
      }
      const startedAt = performance.now();
      const { delivered, status, error } = await send(target, { id: `msg_${randomUUID()}`, type: TEST_EVENT, data: { keyId } });
      const durationMs = Math.round(performance.now() - startedAt);
      return executions.TestWebhookResponse.fromPartial({ delivered, status, error, durationMs });
    },
  };
};
