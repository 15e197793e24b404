import { EgressError, executionJson, type EgressClient, type Logger } from "@nodeloom/platform";
import { Webhook } from "standardwebhooks";
import type { Identity } from "./clients";
import type { ExecutionStore, ExecutionView } from "./store";
import type { DeliveryInput, DeliveryResult } from "./temporal/activity-types";
import { TIMING } from "./timing";
import { executionMessage } from "./view";

const MAX_ANSWER_BYTES = 64 * 1024;
const GONE = 410;
const SECRET_PREFIX = "whsec_";
const MAX_RETRY_AFTER_MS = 24 * 3_600_000;

/** One signature per secret that is valid now, as Standard Webhooks has it. */
const sign = (secrets: readonly string[], id: string, at: Date, body: string): string =>
  secrets.map((secret) => new Webhook(secret.slice(SECRET_PREFIX.length)).sign(id, at, body)).join(" ");

const retryAfterMs = (header: string | undefined): number | null => {
  if (header === undefined) return null;
  const seconds = Number(header);
  const ms = Number.isFinite(seconds) ? seconds * 1_000 : Date.parse(header) - Date.now();
  return Number.isFinite(ms) && ms > 0 ? Math.min(ms, MAX_RETRY_AFTER_MS) : null;
};

const resultOf = (record: ExecutionView): unknown => (record.resultJson === null ? undefined : (JSON.parse(record.resultJson) as unknown));

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
}) => ({
  /** One attempt. Its outcome is kept on the execution; the answer says whether there should be another. */
  deliver: async ({ executionId, keyId }: DeliveryInput): Promise<DeliveryResult> => {
    const record = await store.find(executionId);
    const target = await identity.getWebhookTarget({ keyId });
    const type = `execution.${record?.status ?? ""}`;
    if (!record?.webhook || target.url === "" || target.secrets.length === 0) return { done: true };
    if (target.events.length > 0 && !target.events.includes(type)) return { done: true };
    const at = new Date();
    const body = JSON.stringify({ type, timestamp: at.toISOString(), data: executionJson(executionMessage(record), resultOf(record)) });
    const id = `msg_${executionId}`;
    const headers = {
      "content-type": "application/json",
      "webhook-id": id,
      "webhook-timestamp": String(Math.floor(at.getTime() / 1_000)),
      "webhook-signature": sign(target.secrets, id, at, body),
    };
    try {
      const { status, headers: answer } = await egress.request({
        url: target.url,
        method: "POST",
        headers,
        body,
        timeoutMs: TIMING.webhookAttempt,
        maxBytes: MAX_ANSWER_BYTES,
      });
      if (status >= 200 && status < 300) {
        await store.recordDelivery(executionId, { deliveredAt: new Date(), lastError: null });
        return { done: true };
      }
      await store.recordDelivery(executionId, { deliveredAt: null, lastError: `the receiver answered ${status}` });
      if (status !== GONE) return { done: false, retryAfterMs: retryAfterMs(answer["retry-after"]) };
      await identity.disableWebhook({ keyId, url: target.url, reason: "the receiver answered 410 Gone" });
      logger.info({ keyId, executionId }, "webhook disabled after 410");
      return { done: true };
    } catch (error) {
      if (!(error instanceof EgressError)) throw error;
      await store.recordDelivery(executionId, { deliveredAt: null, lastError: error.message });
      return { done: false, retryAfterMs: null };
    }
  },
});
