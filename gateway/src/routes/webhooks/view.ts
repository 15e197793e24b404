import type { identity, notifications } from "@nodeloom/proto";
import { z } from "zod";
import { iso, timestamp, uuid } from "../../http/schemas";
import { deliveryState, lastError } from "../executions/view";

/** Shows webhook endpoints of an account, and their deliveries, to clients. */

export const ENDPOINT_EVENTS = [
  "execution.completed",
  "execution.failed",
  "execution.cancelled",
  "execution.waiting",
  "execution.sync.completed",
  "batch.completed",
  "budget.alert",
] as const;

export const events = z
  .array(z.enum(ENDPOINT_EVENTS))
  .min(1)
  .max(ENDPOINT_EVENTS.length)
  .meta({
    description: "`execution.sync.completed`: the end of a run whose request was answered with it",
    example: ["execution.completed", "execution.failed"],
  });

export const endpoint = z
  .object({
    id: uuid,
    url: z.string().meta({ example: "https://example.com/hook" }),
    events: z.array(z.enum(ENDPOINT_EVENTS)),
    description: z.string().meta({ example: "Order system" }),
    disabledAt: timestamp.nullable().meta({ description: "Null while it gets messages" }),
    disabledReason: z.string().nullable().meta({ description: "Why it is disabled" }),
    createdAt: timestamp.nullable(),
    updatedAt: timestamp.nullable(),
  })
  .meta({ id: "WebhookEndpoint" });

export const withSecret = endpoint
  .extend({
    secret: z
      .string()
      .meta({ description: "Signs its messages. It is shown only in this answer", example: "whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD" }),
  })
  .meta({ id: "WebhookEndpointWithSecret" });

const attempt = z
  .object({
    at: timestamp,
    status: z.number().nullable().meta({ description: "The receiver's status; null if it didn't answer" }),
    error: z.string().nullable(),
    durationMs: z.number(),
    delivery: z.number().meta({ description: "1 is the first delivery; each redelivery has the next number" }),
    attempt: z.number().meta({ description: "Within the delivery" }),
    url: z.string(),
  })
  .meta({ id: "EndpointAttempt" });

export const delivery = z
  .object({
    id: z.string(),
    messageId: z.string().meta({ description: "The `webhook-id` header" }),
    event: z.string(),
    executionId: uuid.nullable().meta({ description: "The execution that the message is about" }),
    batchId: uuid.nullable().meta({ description: "The batch that the message is about" }),
    state: deliveryState,
    attempts: z.number().meta({ description: "Total of all deliveries" }),
    createdAt: timestamp.nullable(),
    deliveredAt: timestamp.nullable(),
    lastError,
    nextAttemptAt: timestamp.nullable().meta({ description: "Set while another attempt is due" }),
    history: z.array(attempt).meta({ description: "The last 50 attempts, oldest first" }),
  })
  .meta({ id: "EndpointDelivery" });

export const endpointView = (stored: identity.WebhookEndpoint | undefined) => {
  if (!stored) throw new Error("identity answered without a webhook endpoint");
  const { id, url, events: wanted, description, disabledReason } = stored;
  return {
    ...{ id, url, events: wanted, description, disabledAt: iso(stored.disabledAt), disabledReason: disabledReason || null },
    ...{ createdAt: iso(stored.createdAt), updatedAt: iso(stored.updatedAt) },
  };
};

export const withSecretView = ({ endpoint: stored, secret }: identity.CreateWebhookEndpointResponse) => ({
  ...endpointView(stored),
  secret,
});

export const deliveryView = (stored: notifications.Delivery | undefined) => {
  if (!stored) throw new Error("notifications answered without a delivery");
  const { id, messageId, event, executionId, batchId, state, attempts, history } = stored;
  return {
    ...{ id, messageId, event, executionId: executionId || null, batchId: batchId || null, state, attempts },
    ...{ createdAt: iso(stored.createdAt), deliveredAt: iso(stored.deliveredAt), lastError: stored.lastError ?? null },
    nextAttemptAt: iso(stored.nextAttemptAt),
    history: history.map(({ at, status, error, durationMs, delivery: number, attempt: nth, url }) => ({
      ...{ at: iso(at), status: status ?? null, error: error ?? null, durationMs, delivery: number, attempt: nth, url },
    })),
  };
};
