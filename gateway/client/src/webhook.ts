import { Webhook, WebhookVerificationError } from "standardwebhooks";
import type { AuditRow, Batch, BudgetAlert, CanaryEnded, Execution, ModelRetiring, WebhookConfiguration } from "./api-types";

/** The execution when it ended or started to wait. It omits the delivery state, so that every attempt sends an identical body. */
export type AnnouncedExecution = Omit<Execution, "webhookDelivery"> & { webhookDelivery: WebhookConfiguration };

/** A webhook message. Deduplicate deliveries by `webhook-id`. */
export type WebhookMessage =
  | {
      type: "execution.completed" | "execution.failed" | "execution.cancelled" | "execution.sync.completed";
      timestamp: string;
      data: AnnouncedExecution;
    }
  | { type: "execution.waiting"; timestamp: string; data: AnnouncedExecution & { nodeId: string; consoleUrl: string } }
  | { type: "batch.completed"; timestamp: string; data: Batch }
  | { type: "budget.alert"; timestamp: string; data: BudgetAlert }
  | { type: "model.retiring"; timestamp: string; data: ModelRetiring }
  | { type: "canary.ended"; timestamp: string; data: CanaryEnded }
  | { type: "audit.row"; timestamp: string; data: AuditRow }
  | { type: "webhook.test"; timestamp: string; data: { keyId?: string; endpointId?: string } };

type HeaderBag = Headers | Readonly<Record<string, string | string[] | undefined>>;

const NAMES = ["webhook-id", "webhook-timestamp", "webhook-signature"] as const;

const valueOf = (headers: HeaderBag, name: string): string => {
  if (headers instanceof Headers) return headers.get(name) ?? "";
  const [, value] = Object.entries(headers).find(([key]) => key.toLowerCase() === name) ?? [];
  return Array.isArray(value) ? value.join(" ") : (value ?? "");
};

export { WebhookVerificationError };

const TOLERANCE_SECONDS = 300;
const BASE64_SECRET = /^(whsec_)?[A-Za-z0-9+/]+={0,2}$/;

const textOf = (payload: unknown): string => {
  if (typeof payload === "string") return payload;
  if (payload instanceof Uint8Array) return new TextDecoder().decode(payload);
  throw new WebhookVerificationError(
    'the body was parsed: pass the raw text or bytes of the request, for example by express.raw({ type: "application/json" })',
  );
};

/** @throws WebhookVerificationError with the reason why no signature can match */
const requireVerifiable = (signed: Readonly<Record<string, string>>, secret: string): void => {
  if (typeof secret !== "string" || secret === "")
    throw new WebhookVerificationError("there is no secret: pass the webhook's, whsec_…, and check the variable that has it");
  if (!BASE64_SECRET.test(secret))
    throw new WebhookVerificationError(
      "the secret must be a webhook's, which begins with whsec_: an API key or a link's secret signs no messages",
    );
  const missing = NAMES.filter((name) => signed[name] === "");
  if (missing.length > 0) throw new WebhookVerificationError(`the request has no ${missing.join(", ")} header: pass all its headers`);
  const age = Math.floor(Date.now() / 1_000) - Number(signed["webhook-timestamp"]);
  if (Number.isNaN(age)) throw new WebhookVerificationError("webhook-timestamp must be a number of seconds");
  if (Math.abs(age) > TOLERANCE_SECONDS)
    throw new WebhookVerificationError(
      `the message was signed ${Math.abs(age)} s ${age > 0 ? "ago" : "ahead of this clock"}, and ${TOLERANCE_SECONDS} s are tolerated: check this clock, and verify messages when they arrive`,
    );
};

const MISMATCH =
  "no signature matches: the body must be the raw one, not parsed and serialized again, and the secret that of this webhook. A key's webhook and an endpoint have secrets of their own; GET /api/webhook-secret has the one for webhooks that runs, batches and schedules name";

/**
 * Verifies signature and age of a delivery and returns its message.
 * @param payload bytes or text of the body, exactly as received
 * @param secret secret of the webhook: `whsec_…`
 * @throws WebhookVerificationError with the value to check
 */
export const verifyWebhook = (payload: string | Uint8Array, headers: HeaderBag, secret: string): WebhookMessage => {
  const text = textOf(payload);
  const signed = Object.fromEntries(NAMES.map((name) => [name, valueOf(headers, name)]));
  requireVerifiable(signed, secret);
  try {
    return new Webhook(secret).verify(text, signed) as WebhookMessage;
  } catch (error) {
    throw error instanceof WebhookVerificationError ? new WebhookVerificationError(MISMATCH) : error;
  }
};
