import { Webhook, WebhookVerificationError } from "standardwebhooks";
import type { Batch, BudgetAlert, Execution, WebhookConfiguration } from "./api-types";

/** The execution when it ended or started to wait. It has no delivery state, so that every attempt sends the same body. */
export type AnnouncedExecution = Omit<Execution, "webhookDelivery"> & { webhookDelivery: WebhookConfiguration };

/** A webhook message. Deduplicate deliveries by `webhook-id`. */
export type WebhookMessage =
  | { type: "execution.completed" | "execution.failed" | "execution.cancelled"; timestamp: string; data: AnnouncedExecution }
  | { type: "execution.waiting"; timestamp: string; data: AnnouncedExecution & { nodeId: string; consoleUrl: string } }
  | { type: "batch.completed"; timestamp: string; data: Batch }
  | { type: "budget.alert"; timestamp: string; data: BudgetAlert }
  | { type: "webhook.test"; timestamp: string; data: { keyId: string } };

type HeaderBag = Headers | Readonly<Record<string, string | string[] | undefined>>;

const NAMES = ["webhook-id", "webhook-timestamp", "webhook-signature"] as const;

const valueOf = (headers: HeaderBag, name: string): string => {
  if (headers instanceof Headers) return headers.get(name) ?? "";
  const [, value] = Object.entries(headers).find(([key]) => key.toLowerCase() === name) ?? [];
  return Array.isArray(value) ? value.join(" ") : (value ?? "");
};

export { WebhookVerificationError };

/**
 * Verifies signature and age of a delivery and returns its message.
 * @param payload bytes or text of the body, exactly as received
 * @param secret secret of the webhook: `whsec_…`
 * @throws WebhookVerificationError
 */
export const verifyWebhook = (payload: string | Uint8Array, headers: HeaderBag, secret: string): WebhookMessage => {
  const text = typeof payload === "string" ? payload : new TextDecoder().decode(payload);
  const signed = Object.fromEntries(NAMES.map((name) => [name, valueOf(headers, name)]));
  return new Webhook(secret).verify(text, signed) as WebhookMessage;
};
