import { KEY_METADATA_ENTRIES, LIMITS, PRESETS, RUN_METADATA, WEBHOOK_EVENTS } from "@nodeloom/kernel";
import { identity } from "@nodeloom/proto";
import { z } from "zod";
import { WEBHOOK_TEST_MS } from "../../http/limits";
import { defineRoute, type RouteDefinition } from "../../edge/route";
import { aliasName, idParams, listQuery, name, queryFlag, uuid } from "../../http/schemas";
import { auditedForOwner } from "../../edge/audit";
import { checkMetadata } from "../runs/routes";
import { metadataName } from "../runs/schemas";
import { auditedKey, issued, issuedView, keyOf, record, view, warnings, warningsView, webhookTest, withSecret } from "./view";
import { capabilities } from "./fields";
import { changeable, makerOf, MANAGES_KEYS, mayChange, requireNewGrants } from "./rights";
import { keyRequestsRoute } from "./requests";
import { jsonBody } from "../../http/body/kinds";

const MAX_URL_CHARS = 2_048;
const MAX_GRACE_SECONDS = 86_400;

const webhookSettings = z
  .strictObject({ url: z.url({ protocol: /^https?$/ }).max(MAX_URL_CHARS), events: z.array(z.enum(WEBHOOK_EVENTS)).min(1).optional() })
  .meta({ id: "WebhookSettings", example: { url: "https://example.com/hooks/nodeloom" } });

/** Presets also have display names: "Workflow Deploy" is `workflow-deploy`. */
const preset = z.preprocess((value) => (typeof value === "string" ? value.toLowerCase().replaceAll(" ", "-") : value), z.enum(PRESETS));

const keyMetadata = z
  .record(metadataName, z.string().max(RUN_METADATA.valueChars))
  .refine((changes) => Object.keys(changes).length <= KEY_METADATA_ENTRIES, { error: `can have at most ${KEY_METADATA_ENTRIES} members` })
  .meta({ description: "Every run by the key has these values: its callers can neither change nor leave them out" });

const keyAlias = aliasName.meta({
  description: "Every run of a workflow by the key uses this alias. A run that names a version or another alias is rejected",
  example: "staging",
});

const change = z
  .strictObject({
    name: name.optional(),
    capabilities: capabilities.optional(),
    metadata: keyMetadata.optional(),
    alias: keyAlias.nullish(),
  })
  .refine((changes) => Object.keys(changes).length > 0, "send at least one of name, capabilities, metadata, alias")
  .meta({ id: "ApiKeyChange", override: { minProperties: 1 } });

const creation = z
  .strictObject({
    name,
    preset: preset.optional(),
    capabilities: capabilities.optional(),
    expiresAt: z.iso.datetime({ offset: true }).nullish(),
    alias: keyAlias.nullish(),
    webhook: webhookSettings.nullish(),
    serviceAccountId: uuid.optional().meta({
      description: "Creates a key of this service account; owners only. Keys of a service account create keys of their own account",
    }),
  })
  .refine(({ preset, capabilities }) => (preset === undefined) !== (capabilities === undefined), {
    path: ["capabilities"],
    message: "send a preset or capabilities",
  })
  .meta({ id: "NewApiKey", override: { oneOf: [{ required: ["preset"] }, { required: ["capabilities"] }] } });

const shared = {
  ...{ tag: "Keys", auth: "session", role: "editor", limit: "user" },
  keyCapability: MANAGES_KEYS,
} as const satisfies Partial<RouteDefinition<"session">>;
const ofKey = { ...shared, params: idParams("key"), errors: ["NOT_FOUND"] } as const;

export const keyRoutes = [
  defineRoute({
    ...shared,
    method: "GET",
    path: "/api/keys",
    query: listQuery(
      z.object({
        deleted: queryFlag
          .optional()
          .meta({ description: `\`true\`: adds the last ${LIMITS.deletedKeys} deleted keys, for the names of ids in usage and audit` }),
      }),
    ),
    operationId: "listKeys",
    summary: "List the caller's API keys",
    responses: { 200: z.array(record) },
    description: "A key of a service account lists the keys of its account.",
    handler: async ({ gateway, caller, query }) => {
      const { keys } = await gateway.services.identity.listKeys({ userId: caller.user.id, withDeleted: query.deleted });
      const madeBy = caller.key ? mayChange(caller).madeBy : undefined;
      return { status: 200, body: keys.filter((key) => madeBy === undefined || key.madeBy === madeBy).map(view) };
    },
  }),
  defineRoute({
    ...shared,
    method: "POST",
    path: "/api/keys",
    operationId: "createKey",
    summary: "Create an API key; its value is shown only once",
    description:
      "Returns CAPABILITY_DENIED if you set a webhook and the key lacks `webhook:receive`, and 412 if you have the maximum number of keys. Polling asynchronous runs needs `execution:read`, which the preset `workflow-deploy` lacks; `warnings` then says so.",
    body: jsonBody(creation),
    responses: { 201: issued },
    errors: ["API_KEY_ACCESS_DENIED", "ACCOUNT_NOT_APPROVED", "CAPABILITY_ABOVE_CEILING", "CAPABILITY_DENIED", "PRECONDITION_FAILED"],
    example: { name: "Deploy", preset: "workflow-deploy" },
    handler: async (context) => {
      const { gateway, caller, body } = context;
      mayChange(caller);
      requireNewGrants(caller, body);
      const request = identity.CreateKeyRequest.fromPartial({
        userId: caller.user.id,
        madeBy: makerOf(caller, body.serviceAccountId),
        service: body.serviceAccountId !== undefined || caller.person.service,
        name: body.name,
        preset: body.preset ?? "",
        capabilities: body.capabilities ?? [],
        expiresAt: body.expiresAt ? new Date(body.expiresAt) : undefined,
        alias: body.alias ?? undefined,
        webhookUrl: body.webhook?.url ?? "",
        webhookEvents: body.webhook?.events ?? [],
      });
      const created = await auditedForOwner(context, { action: "key.create", target: body.name, change: body }, async () => {
        const value = await gateway.services.identity.createKey(request);
        return { value, after: auditedKey(keyOf(value)) };
      });
      return { status: 201, body: issuedView(created) };
    },
  }),
  defineRoute({
    ...ofKey,
    method: "PATCH",
    path: "/api/keys/:id",
    operationId: "updateKey",
    summary: "Change an API key's name, capabilities, metadata or alias, everywhere within one second",
    description:
      "`capabilities` replaces all capabilities, up to those of the tier; the preset is then `custom`. `metadata` replaces all metadata; a run by the key that sends another value gets INVALID_REQUEST.",
    body: jsonBody(change),
    responses: { 200: record.extend({ warnings }).meta({ id: "ChangedApiKey" }) },
    errors: ["NOT_FOUND", "CAPABILITY_ABOVE_CEILING"],
    example: { name: "Deploy (production)", capabilities: ["workflow:run", "execution:read"] },
    handler: async (context) => {
      const { gateway, caller, params, body, members } = context;
      checkMetadata(members().get("metadata"));
      if (body.capabilities) requireNewGrants(caller, { capabilities: body.capabilities });
      const request = {
        ...(await changeable(context, params.id)),
        name: body.name,
        capabilities: body.capabilities && { capabilities: body.capabilities },
        metadata: body.metadata && { values: body.metadata },
        // Null removes the limit to one alias.
        alias: body.alias === undefined ? undefined : (body.alias ?? ""),
      };
      const changed = await auditedForOwner(context, { action: "key.update", target: params.id, change: body }, async () => {
        const value = await gateway.services.identity.updateKey(request);
        return { value, after: auditedKey(keyOf(value)) };
      });
      return { status: 200, body: { ...view(keyOf(changed)), ...warningsView(changed.warnings) } };
    },
  }),
  keyRequestsRoute,
  defineRoute({
    ...ofKey,
    method: "DELETE",
    path: "/api/keys/:id",
    operationId: "revokeKey",
    summary: "Revoke an API key, everywhere within one second",
    responses: { 204: null },
    handler: async (context) => {
      const { gateway, caller, params } = context;
      await auditedForOwner(context, { action: "key.revoke", target: params.id }, async () => ({
        value: await gateway.services.identity.revokeKey({ ...mayChange(caller), keyId: params.id }),
      }));
      return { status: 204 };
    },
  }),
  defineRoute({
    ...ofKey,
    method: "POST",
    path: "/api/keys/:id/rotate",
    operationId: "rotateKey",
    summary: "Replace an API key's value",
    description:
      "The old value works for the grace period, which starts at the new value's first use. With 0 it stops working immediately.",
    body: jsonBody(z.strictObject({ graceSeconds: z.number().int().min(0).max(MAX_GRACE_SECONDS) })),
    responses: { 200: issued },
    errors: ["NOT_FOUND", "PRECONDITION_FAILED"],
    example: { graceSeconds: 3600 },
    handler: async (context) => {
      const { gateway, params, body } = context;
      const request = { ...(await changeable(context, params.id)), graceSeconds: body.graceSeconds };
      const rotated = await auditedForOwner(context, { action: "key.rotate", target: params.id, change: body }, async () => {
        const value = await gateway.services.identity.rotateKey(request);
        return { value, after: auditedKey(keyOf(value)) };
      });
      return { status: 200, body: issuedView(rotated) };
    },
  }),
  defineRoute({
    ...ofKey,
    method: "PUT",
    path: "/api/keys/:id/webhook",
    operationId: "setKeyWebhook",
    summary: "Set an API key's webhook; its secret is shown only once",
    description:
      "Enables a disabled webhook. A replaced secret keeps signing beside the new one for 24 hours, with at most ten secrets; removing the webhook ends all.",
    body: jsonBody(webhookSettings),
    responses: { 200: withSecret },
    errors: ["NOT_FOUND", "CAPABILITY_DENIED"],
    example: { url: "https://example.com/hooks/nodeloom" },
    handler: async (context) => {
      const { gateway, params, body } = context;
      const request = { ...(await changeable(context, params.id)), url: body.url, events: body.events ?? [] };
      const set = await auditedForOwner(context, { action: "key.webhook-set", target: params.id, change: body }, async () => {
        const value = await gateway.services.identity.setKeyWebhook(request);
        return { value, after: auditedKey(keyOf(value)) };
      });
      return { status: 200, body: { ...view(keyOf(set)), webhookSecret: set.webhookSecret } };
    },
  }),
  defineRoute({
    ...ofKey,
    method: "POST",
    path: "/api/keys/:id/webhook/test",
    operationId: "testKeyWebhook",
    summary: "Send a signed test message to an API key's webhook",
    description:
      "Sends a message of type `webhook.test`, whatever events the webhook subscribes to. Returns 412 if the key has no webhook, the webhook is disabled, or the key lacks `webhook:receive`.",
    responses: { 200: webhookTest },
    errors: ["NOT_FOUND", "PRECONDITION_FAILED"],
    handler: async ({ gateway, caller, params }) => {
      const request = await changeable({ gateway, caller }, params.id);
      const tested = await gateway.services.notifications.testWebhook(request, { deadlineMs: WEBHOOK_TEST_MS });
      const { delivered, durationMs } = tested;
      return { status: 200, body: { delivered, status: tested.status ?? null, error: tested.error ?? null, durationMs } };
    },
  }),
  defineRoute({
    ...ofKey,
    method: "DELETE",
    path: "/api/keys/:id/webhook",
    operationId: "deleteKeyWebhook",
    summary: "Remove an API key's webhook",
    responses: { 200: record },
    handler: async (context) => {
      const { gateway, caller, params } = context;
      const removed = await auditedForOwner(context, { action: "key.webhook-delete", target: params.id }, async () => {
        const value = await gateway.services.identity.deleteKeyWebhook({ ...mayChange(caller), keyId: params.id });
        return { value, after: auditedKey(keyOf(value)) };
      });
      return { status: 200, body: view(keyOf(removed)) };
    },
  }),
];
