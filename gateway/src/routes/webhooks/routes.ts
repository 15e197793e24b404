import { LIMITS } from "@nodeloom/kernel";
import { z } from "zod";
import type { Caller } from "../../auth/caller";
import { auditedForOwner } from "../../edge/audit";
import { defineRoute, type RouteDefinition } from "../../edge/route";
import { jsonBody } from "../../http/body/kinds";
import { notFound } from "../../http/errors";
import { cursor, cursorPage, limit, line, listQuery, nextCursor, uuid, type ParamsSpec } from "../../http/schemas";
import { delivery, deliveryView, endpoint, endpointView, events, withSecret, withSecretView } from "./view";

/** Webhook endpoints of an account: addresses that get messages about all its runs. */

const MAX_URL_CHARS = 2_048;
const MAX_DELIVERY_ID_CHARS = 100;

const url = z
  .url({ protocol: /^https?$/ })
  .max(MAX_URL_CHARS)
  .meta({ example: "https://example.com/hook" });
const description = line(LIMITS.nameChars).meta({ example: "Order system" });

const newEndpoint = z.strictObject({ url, events, description: description.optional() }).meta({ id: "NewWebhookEndpoint" });
const edit = z
  .strictObject({
    url: url.optional(),
    events: events.optional(),
    description: description.optional(),
    disabled: z.boolean().optional().meta({ description: "True stops messages, false starts them again" }),
  })
  .refine((body) => Object.keys(body).length > 0, "must change something")
  .meta({ id: "WebhookEndpointEdit" });

const params: ParamsSpec<{ id: string }> = { schema: z.object({ id: uuid }), invalid: () => notFound("webhook endpoint") };
const deliveryParams: ParamsSpec<{ id: string; deliveryId: string }> = {
  schema: z.object({ id: uuid, deliveryId: z.string().min(1).max(MAX_DELIVERY_ID_CHARS) }),
  invalid: () => notFound("delivery"),
};

const shared = {
  ...{ tag: "Webhook endpoints", auth: "session", role: "editor", limit: "user", capability: "execution:read" },
  keyCapability: "webhooks:write",
} as const satisfies Partial<RouteDefinition<"session">>;
const ofEndpoint = { ...shared, params, errors: ["NOT_FOUND"] } as const;

/** Owners, in a session, can send the audit log to an endpoint. */
const isOwner = ({ key, organization }: Caller): boolean => key === null && (organization?.role ?? "owner") === "owner";

const noQuery = z.strictObject({});
const PATH = "/api/webhook-endpoints";

const managing = [
  defineRoute({
    ...shared,
    method: "GET",
    path: PATH,
    query: listQuery(),
    operationId: "listWebhookEndpoints",
    summary: "List the account's webhook endpoints, oldest first",
    responses: { 200: z.object({ endpoints: z.array(endpoint) }).meta({ id: "WebhookEndpoints" }) },
    handler: async ({ gateway, caller }) => {
      const { endpoints } = await gateway.services.identity.listWebhookEndpoints({ ownerId: caller.user.id });
      return { status: 200, body: { endpoints: endpoints.map(endpointView) } };
    },
  }),
  defineRoute({
    ...shared,
    method: "POST",
    path: PATH,
    query: noQuery,
    operationId: "createWebhookEndpoint",
    summary: "Add a webhook endpoint",
    description:
      "It receives messages about all runs that the account starts from then on, whichever key or person starts them. An account has at most 20. Only an owner, in a session, can subscribe an endpoint to `audit.row`, and change or delete such an endpoint.",
    body: jsonBody(newEndpoint),
    responses: { 201: withSecret },
    errors: ["PRECONDITION_FAILED"],
    example: { url: "https://example.com/hook", events: ["execution.completed", "execution.failed"], description: "Order system" },
    handler: async (context) => {
      const { gateway, caller, body } = context;
      const endpointSettings = { ...body, description: body.description ?? "" };
      const action = { action: "webhook-endpoint.create", target: body.url, change: endpointSettings };
      const added = await auditedForOwner(context, action, async () => {
        const request = { ownerId: caller.user.id, ...endpointSettings, byOwner: isOwner(caller) };
        const value = await gateway.services.identity.createWebhookEndpoint(request);
        return { value, after: endpointView(value.endpoint) };
      });
      return { status: 201, body: withSecretView(added) };
    },
  }),
  defineRoute({
    ...ofEndpoint,
    method: "PATCH",
    path: `${PATH}/:id`,
    query: noQuery,
    operationId: "updateWebhookEndpoint",
    summary: "Change, disable or enable a webhook endpoint",
    description: "Another `url` also enables it, unless `disabled` is true.",
    body: jsonBody(edit),
    responses: { 200: endpoint },
    example: { events: ["execution.failed"], disabled: false },
    handler: async (context) => {
      const { gateway, caller, params: of, body } = context;
      const changed = await auditedForOwner(context, { action: "webhook-endpoint.update", target: of.id, change: body }, async () => {
        const { events: eventTypes, ...rest } = body;
        const { endpoint: stored } = await gateway.services.identity.updateWebhookEndpoint({
          endpoint: { ownerId: caller.user.id, id: of.id },
          ...rest,
          events: eventTypes && { events: eventTypes },
          byOwner: isOwner(caller),
        });
        return { value: endpointView(stored), after: endpointView(stored) };
      });
      return { status: 200, body: changed };
    },
  }),
  defineRoute({
    ...ofEndpoint,
    method: "DELETE",
    path: `${PATH}/:id`,
    query: noQuery,
    operationId: "deleteWebhookEndpoint",
    summary: "Delete a webhook endpoint",
    description: "Messages that wait for their next attempt aren't sent.",
    responses: { 204: null },
    handler: async (context) => {
      const { gateway, caller, params: of } = context;
      await auditedForOwner(context, { action: "webhook-endpoint.delete", target: of.id }, async () => ({
        value: await gateway.services.identity.deleteWebhookEndpoint({
          ...{ endpoint: { ownerId: caller.user.id, id: of.id }, byOwner: isOwner(caller) },
        }),
      }));
      return { status: 204 };
    },
  }),
  defineRoute({
    ...ofEndpoint,
    method: "POST",
    path: `${PATH}/:id/rotate`,
    query: noQuery,
    operationId: "rotateWebhookEndpointSecret",
    summary: "Replace the secret of a webhook endpoint",
    description: "For 24 hours, messages carry signatures by the new and the replaced secret.",
    responses: { 200: withSecret },
    handler: async (context) => {
      const { gateway, caller, params: of } = context;
      const rotated = await auditedForOwner(context, { action: "webhook-endpoint.rotate", target: of.id }, async () => ({
        value: await gateway.services.identity.rotateWebhookEndpointSecret({
          ...{ endpoint: { ownerId: caller.user.id, id: of.id }, byOwner: isOwner(caller) },
        }),
      }));
      return { status: 200, body: withSecretView(rotated) };
    },
  }),
];

const delivering = [
  defineRoute({
    ...ofEndpoint,
    method: "POST",
    path: `${PATH}/:id/test`,
    query: noQuery,
    operationId: "testWebhookEndpoint",
    summary: "Send a signed test message to a webhook endpoint",
    description:
      "Sends a message of type `webhook.test`, whatever events the endpoint subscribes to. It has one attempt, and a failure doesn't disable the endpoint. The response is its delivery, whose result appears in the list of deliveries. 412 if the endpoint is disabled.",
    responses: { 200: delivery },
    errors: ["NOT_FOUND", "PRECONDITION_FAILED"],
    handler: async ({ gateway, caller, params: of }) => {
      const { delivery: testDelivery } = await gateway.services.notifications.testEndpoint({ ownerId: caller.user.id, endpointId: of.id });
      return { status: 200, body: deliveryView(testDelivery) };
    },
  }),
  defineRoute({
    ...ofEndpoint,
    method: "GET",
    path: `${PATH}/:id/deliveries`,
    query: listQuery(z.object({ limit, cursor: cursor.optional() })),
    operationId: "listWebhookEndpointDeliveries",
    summary: "List the messages to a webhook endpoint, newest first",
    responses: { 200: cursorPage(delivery) },
    handler: async ({ gateway, caller, params: of, query }) => {
      const request = { ownerId: caller.user.id, endpointId: of.id, limit: query.limit, cursor: query.cursor ?? "" };
      const page = await gateway.services.notifications.listEndpointDeliveries(request);
      return { status: 200, body: { rows: page.deliveries.map(deliveryView), nextCursor: nextCursor(page.nextCursor) } };
    },
  }),
  defineRoute({
    ...shared,
    params: deliveryParams,
    method: "POST",
    path: `${PATH}/:id/deliveries/:deliveryId/redeliver`,
    query: noQuery,
    operationId: "redeliverToWebhookEndpoint",
    summary: "Send a message to a webhook endpoint again, now",
    description:
      "It has the same `webhook-id`, and a schedule of attempts of its own. A delivery that waits for its next attempt ends. 412 if the endpoint is disabled, deleted or no longer wants the event.",
    responses: { 200: delivery },
    errors: ["NOT_FOUND", "PRECONDITION_FAILED"],
    handler: async (context) => {
      const { gateway, caller, params: of } = context;
      const { delivery: startedDelivery } = await gateway.services.notifications.redeliverToEndpoint({
        ...{ ownerId: caller.user.id, endpointId: of.id, id: of.deliveryId },
      });
      return { status: 200, body: deliveryView(startedDelivery) };
    },
  }),
];

export const webhookEndpointRoutes = [...managing, ...delivering];
