import { ENDPOINT_EVENTS } from "@nodeloom/kernel";
import { deliveryJson } from "@nodeloom/platform";
import type { identity, notifications } from "@nodeloom/proto";
import { z } from "zod";
import { iso, timestamp, uuid } from "../../http/schemas";
import { deliveryMembers } from "../executions/view";

/** Shows webhook endpoints of an account, and their deliveries, to clients. */

export const events = z
  .array(z.enum(ENDPOINT_EVENTS))
  .min(1)
  .max(ENDPOINT_EVENTS.length)
  .meta({
    description:
      "`execution.sync.completed`: the end of a run whose request was answered with it. `audit.row`: a new row of the audit log, only for owners",
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

export const delivery = z
  .object({
    id: z.string(),
    messageId: z.string().meta({ description: "The `webhook-id` header" }),
    event: z.string(),
    executionId: uuid.nullable().meta({ description: "The execution that the message is about" }),
    batchId: uuid.nullable().meta({ description: "The batch that the message is about" }),
    createdAt: timestamp.nullable(),
    ...deliveryMembers,
  })
  .meta({ id: "EndpointDelivery" });

export const endpointView = (stored: identity.WebhookEndpoint | undefined) => {
  if (!stored) throw new Error("identity answered without a webhook endpoint");
  const { id, url, events: eventTypes, description, disabledReason } = stored;
  return {
    ...{ id, url, events: eventTypes, description, disabledAt: iso(stored.disabledAt), disabledReason: disabledReason || null },
    ...{ createdAt: iso(stored.createdAt), updatedAt: iso(stored.updatedAt) },
  };
};

export const withSecretView = ({ endpoint: stored, secret }: identity.CreateWebhookEndpointResponse) => ({
  ...endpointView(stored),
  secret,
});

export const deliveryView = (stored: notifications.Delivery | undefined) => {
  if (!stored) throw new Error("notifications answered without a delivery");
  const { id, messageId, event, executionId, batchId } = stored;
  return {
    ...{ id, messageId, event, executionId: executionId || null, batchId: batchId || null, createdAt: iso(stored.createdAt) },
    ...deliveryJson(stored),
  };
};
