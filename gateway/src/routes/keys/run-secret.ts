import { z } from "zod";
import { auditedForOwner } from "../../edge/audit";
import { defineRoute, type RouteDefinition } from "../../edge/route";
import { iso, timestamp } from "../../http/schemas";

/** The account's secret that signs webhooks set per run. */

const runSecret = z
  .object({
    secret: z.string().meta({ example: "whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD" }),
    createdAt: timestamp.nullable(),
  })
  .meta({ id: "WebhookSecret" });

const shared = { tag: "Keys", auth: "session", role: "owner", limit: "user" } as const satisfies Partial<RouteDefinition<"session">>;

export const runSecretRoutes = [
  defineRoute({
    ...shared,
    method: "GET",
    path: "/api/webhook-secret",
    query: z.strictObject({}),
    operationId: "getWebhookSecret",
    summary: "Read the secret that signs webhooks of runs",
    description:
      "Each account has one. It signs messages to the `webhook` of a run's request. The webhooks of keys have their own secrets.",
    responses: { 200: runSecret },
    handler: async ({ gateway, caller }) => {
      const { secret, createdAt } = await gateway.services.identity.getRunSecret({ ownerId: caller.user.id });
      return { status: 200, body: { secret, createdAt: iso(createdAt) } };
    },
  }),
  defineRoute({
    ...shared,
    method: "POST",
    path: "/api/webhook-secret/rotate",
    query: z.strictObject({}),
    operationId: "rotateWebhookSecret",
    summary: "Replace the secret that signs webhooks of runs",
    description: "For 24 hours, messages have signatures of the new and the replaced secret.",
    responses: { 200: runSecret },
    handler: async (context) => {
      const { gateway, caller } = context;
      const ownerId = caller.user.id;
      const { secret, createdAt } = await auditedForOwner(context, { action: "webhook-secret.rotate", target: ownerId }, async () => ({
        value: await gateway.services.identity.rotateRunSecret({ ownerId }),
      }));
      return { status: 200, body: { secret, createdAt: iso(createdAt) } };
    },
  }),
];
