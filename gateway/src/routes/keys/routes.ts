import { KEY_METADATA_ENTRIES, PRESETS, RUN_METADATA } from "@nodeloom/kernel";
import { identity } from "@nodeloom/proto";
import { z } from "zod";
import { WEBHOOK_TEST_MS } from "../../http/limits";
import { defineRoute, type RouteDefinition } from "../../http/route";
import { idParams, iso, name, timestamp } from "../../schemas";
import { checkMetadata, metadataName } from "../runs/routes";

const WEBHOOK_EVENTS = [
  "execution.completed",
  "execution.failed",
  "execution.cancelled",
  "execution.waiting",
  "batch.completed",
  "budget.alert",
] as const;
const MAX_CAPABILITIES = 100;
const MAX_CAPABILITY_CHARS = 300;
const MAX_URL_CHARS = 2_048;
const MAX_GRACE_SECONDS = 86_400;

const webhookSettings = z
  .strictObject({ url: z.url({ protocol: /^https?$/ }).max(MAX_URL_CHARS), events: z.array(z.enum(WEBHOOK_EVENTS)).min(1).optional() })
  .meta({ id: "WebhookSettings", example: { url: "https://example.com/hooks/nodeloom" } });

const record = z
  .object({
    id: z.string(),
    name: z.string(),
    start: z.string().meta({ description: "The first twelve characters of the value" }),
    preset: z.string(),
    capabilities: z.array(z.string()),
    metadata: z.record(z.string(), z.string()).optional().meta({ description: "Set where every run by the key has such metadata" }),
    createdAt: timestamp.nullable(),
    lastUsedAt: timestamp.nullable(),
    expiresAt: timestamp.nullable(),
    webhook: z
      .object({
        url: z.string(),
        events: z.array(z.string()),
        disabledAt: timestamp.nullable(),
        disabledReason: z.string().nullable(),
      })
      .nullable(),
  })
  .meta({ id: "ApiKey" });
const warnings = z
  .array(z.string())
  .optional()
  .meta({ description: "What to know of the capabilities: for example that runs can be started, but not polled without `execution:read`" });
const issued = record
  .extend({
    warnings,
    key: z.string().meta({ description: "The value, shown this once" }),
    webhookSecret: z.string().optional().meta({ description: "Shown this once" }),
  })
  .meta({ id: "IssuedApiKey" });
const withSecret = record.extend({ webhookSecret: z.string() }).meta({ id: "ApiKeyWithWebhookSecret" });

const webhookTest = z
  .object({
    delivered: z.boolean().meta({ description: "The receiver answered 2xx" }),
    status: z.number().nullable().meta({ description: "The receiver's status; null when it did not answer" }),
    error: z.string().nullable(),
    durationMs: z.number(),
  })
  .meta({ id: "WebhookTest" });

/** Presets have names for people, too: "Workflow Deploy" is `workflow-deploy`. */
const preset = z.preprocess((value) => (typeof value === "string" ? value.toLowerCase().replaceAll(" ", "-") : value), z.enum(PRESETS));

const capabilities = z.array(z.string().min(1).max(MAX_CAPABILITY_CHARS)).min(1).max(MAX_CAPABILITIES);

const keyMetadata = z
  .record(metadataName, z.string().max(RUN_METADATA.valueChars))
  .refine((given) => Object.keys(given).length <= KEY_METADATA_ENTRIES, { error: `may have at most ${KEY_METADATA_ENTRIES} members` })
  .meta({ description: "Every run by the key has these values: its callers can neither change nor leave them out" });

const change = z
  .strictObject({ name: name.optional(), capabilities: capabilities.optional(), metadata: keyMetadata.optional() })
  .refine((given) => Object.keys(given).length > 0, "give at least one of name, capabilities, metadata")
  .meta({ id: "ApiKeyChange", override: { minProperties: 1 } });

const creation = z
  .strictObject({
    name,
    preset: preset.optional(),
    capabilities: capabilities.optional(),
    expiresAt: z.iso.datetime({ offset: true }).nullish(),
    webhook: webhookSettings.nullish(),
  })
  .refine(({ preset, capabilities }) => (preset === undefined) !== (capabilities === undefined), {
    path: ["capabilities"],
    message: "give either a preset or capabilities",
  })
  .meta({ id: "NewApiKey", override: { oneOf: [{ required: ["preset"] }, { required: ["capabilities"] }] } });

const webhookView = ({ url, events, disabledAt, disabledReason }: identity.KeyWebhook): Record<string, unknown> => ({
  url,
  events,
  disabledAt: iso(disabledAt),
  disabledReason: disabledReason || null,
});

const view = (key: identity.Key | undefined): Record<string, unknown> => {
  if (!key) throw new Error("identity answered without a key");
  return {
    id: key.id,
    name: key.name,
    start: key.start,
    preset: key.preset,
    capabilities: key.capabilities,
    ...(Object.keys(key.metadata).length > 0 ? { metadata: key.metadata } : {}),
    createdAt: iso(key.createdAt),
    lastUsedAt: iso(key.lastUsedAt),
    expiresAt: iso(key.expiresAt),
    webhook: key.webhook ? webhookView(key.webhook) : null,
  };
};

/** Absent where there are none. */
const warningsView = (given: string[]): Record<string, unknown> => (given.length > 0 ? { warnings: given } : {});

const issuedView = ({ key, value, webhookSecret, warnings: given }: identity.CreateKeyResponse): Record<string, unknown> => ({
  ...view(key),
  ...warningsView(given),
  key: value,
  webhookSecret: webhookSecret || undefined,
});

const shared = { tag: "Keys", auth: "session", limit: "user" } as const satisfies Partial<RouteDefinition<"session">>;
const ofKey = { ...shared, params: idParams("key"), errors: ["NOT_FOUND"] } as const;

export const keyRoutes = [
  defineRoute({
    ...shared,
    method: "GET",
    path: "/api/keys",
    list: true,
    operationId: "listKeys",
    summary: "List the caller's API keys",
    responses: { 200: z.array(record) },
    handler: async ({ gateway, caller }) => {
      const { keys } = await gateway.services.identity.listKeys({ userId: caller.user.id });
      return { status: 200, body: keys.map(view) };
    },
  }),
  defineRoute({
    ...shared,
    method: "POST",
    path: "/api/keys",
    operationId: "createKey",
    summary: "Create an API key; its value is shown this once",
    description:
      "CAPABILITY_DENIED when a webhook is asked for and the key would lack `webhook:receive`; 412 when the caller has as many keys as anyone may have. Asynchronous runs are polled under `execution:read`, which the preset `workflow-deploy` does not have: `warnings` says so.",
    body: creation,
    responses: { 201: issued },
    errors: ["API_KEY_ACCESS_DENIED", "ACCOUNT_NOT_APPROVED", "CAPABILITY_ABOVE_CEILING", "CAPABILITY_DENIED", "PRECONDITION_FAILED"],
    example: { name: "Deploy", preset: "workflow-deploy" },
    handler: async ({ gateway, caller, body }) => {
      const created = await gateway.services.identity.createKey(
        identity.CreateKeyRequest.fromPartial({
          userId: caller.user.id,
          name: body.name,
          preset: body.preset ?? "",
          capabilities: body.capabilities ?? [],
          expiresAt: body.expiresAt ? new Date(body.expiresAt) : undefined,
          webhookUrl: body.webhook?.url ?? "",
          webhookEvents: body.webhook?.events ?? [],
        }),
      );
      return { status: 201, body: issuedView(created) };
    },
  }),
  defineRoute({
    ...ofKey,
    method: "PATCH",
    path: "/api/keys/:id",
    operationId: "updateKey",
    summary: "Rename an API key, or change its capabilities or its metadata, everywhere within one second",
    description:
      "`capabilities` replaces all of them, within the ceiling of the tier; the preset is then `custom`. `metadata` replaces all of it, too: a run by the key that says another value is refused with INVALID_REQUEST.",
    body: change,
    responses: { 200: record.extend({ warnings }).meta({ id: "ChangedApiKey" }) },
    errors: ["NOT_FOUND", "CAPABILITY_ABOVE_CEILING"],
    example: { name: "Deploy (production)", capabilities: ["workflow:run", "execution:read"] },
    handler: async ({ gateway, caller, params, body, members }) => {
      checkMetadata(members().get("metadata"));
      const request = {
        userId: caller.user.id,
        keyId: params.id,
        name: body.name,
        capabilities: body.capabilities && { capabilities: body.capabilities },
        metadata: body.metadata && { values: body.metadata },
      };
      const { key, warnings: given } = await gateway.services.identity.updateKey(request);
      return { status: 200, body: { ...view(key), ...warningsView(given) } };
    },
  }),
  defineRoute({
    ...ofKey,
    method: "DELETE",
    path: "/api/keys/:id",
    operationId: "revokeKey",
    summary: "Revoke an API key, everywhere within one second",
    responses: { 204: null },
    handler: async ({ gateway, caller, params }) => {
      await gateway.services.identity.revokeKey({ userId: caller.user.id, keyId: params.id });
      return { status: 204 };
    },
  }),
  defineRoute({
    ...ofKey,
    method: "POST",
    path: "/api/keys/:id/rotate",
    operationId: "rotateKey",
    summary: "Replace an API key's value",
    description: "The old value works until the grace ends, which starts at the new value's first use. With 0 it ends at once.",
    body: z.strictObject({ graceSeconds: z.number().int().min(0).max(MAX_GRACE_SECONDS) }),
    responses: { 200: issued },
    errors: ["NOT_FOUND", "PRECONDITION_FAILED"],
    example: { graceSeconds: 3600 },
    handler: async ({ gateway, caller, params, body }) => {
      const request = { userId: caller.user.id, keyId: params.id, graceSeconds: body.graceSeconds };
      return { status: 200, body: issuedView(await gateway.services.identity.rotateKey(request)) };
    },
  }),
  defineRoute({
    ...ofKey,
    method: "PUT",
    path: "/api/keys/:id/webhook",
    operationId: "setKeyWebhook",
    summary: "Set an API key's webhook; its secret is shown this once",
    description:
      "Enables one that was disabled. A secret that is replaced signs beside the newer ones for 24 hours, the ten newest at most; removing the webhook ends all.",
    body: webhookSettings,
    responses: { 200: withSecret },
    errors: ["NOT_FOUND", "CAPABILITY_DENIED"],
    example: { url: "https://example.com/hooks/nodeloom" },
    handler: async ({ gateway, caller, params, body }) => {
      const { key, webhookSecret } = await gateway.services.identity.setKeyWebhook({
        userId: caller.user.id,
        keyId: params.id,
        url: body.url,
        events: body.events ?? [],
      });
      return { status: 200, body: { ...view(key), webhookSecret } };
    },
  }),
  defineRoute({
    ...ofKey,
    method: "POST",
    path: "/api/keys/:id/webhook/test",
    operationId: "testKeyWebhook",
    summary: "Send a signed test message to an API key's webhook, now and once",
    description:
      "The message has the type `webhook.test` and is sent whatever events the webhook is for. 412 when the key has no webhook, or a disabled one, or lacks `webhook:receive`.",
    responses: { 200: webhookTest },
    errors: ["NOT_FOUND", "PRECONDITION_FAILED"],
    handler: async ({ gateway, caller, params }) => {
      const request = { keyId: params.id, userId: caller.user.id };
      const tested = await gateway.services.executions.testWebhook(request, { deadlineMs: WEBHOOK_TEST_MS });
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
    handler: async ({ gateway, caller, params }) => {
      const { key } = await gateway.services.identity.deleteKeyWebhook({ userId: caller.user.id, keyId: params.id });
      return { status: 200, body: view(key) };
    },
  }),
];
