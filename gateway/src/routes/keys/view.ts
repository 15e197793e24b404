import type { identity } from "@nodeloom/proto";
import { z } from "zod";
import { iso, timestamp } from "../../http/schemas";

export const record = z
  .object({
    id: z.string(),
    name: z.string(),
    start: z.string().meta({ description: "The first twelve characters of the value" }),
    preset: z.string(),
    capabilities: z.array(z.string()),
    createdBy: z.string().optional().meta({
      description: "For an organization's key: user id of its creator. The key acts within their role and stops working when they leave",
    }),
    metadata: z.record(z.string(), z.string()).optional().meta({ description: "Set if every run by the key has this metadata" }),
    alias: z.string().optional().meta({ description: "Set if every run of a workflow by the key uses this alias" }),
    createdAt: timestamp.nullable(),
    lastUsedAt: timestamp.nullable(),
    expiresAt: timestamp.nullable(),
    deletedAt: timestamp.optional().meta({ description: "Set if the key was deleted. It no longer authenticates" }),
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
export const warnings = z
  .array(z.string())
  .optional()
  .meta({ description: "Hints about the capabilities, for example: without `execution:read` the key can start runs but not poll them" });
export const issued = record
  .extend({
    warnings,
    key: z.string().meta({ description: "The value. Shown only once" }),
    webhookSecret: z.string().optional().meta({ description: "Shown only once" }),
  })
  .meta({ id: "IssuedApiKey" });
export const withSecret = record.extend({ webhookSecret: z.string() }).meta({ id: "ApiKeyWithWebhookSecret" });

export const webhookTest = z
  .object({
    delivered: z.boolean().meta({ description: "The receiver answered 2xx" }),
    status: z.number().nullable().meta({ description: "Status of the receiver's response; null if there was none" }),
    error: z.string().nullable(),
    durationMs: z.number(),
  })
  .meta({ id: "WebhookTest" });

const webhookView = ({ url, events, disabledAt, disabledReason }: identity.KeyWebhook): Record<string, unknown> => ({
  url,
  events,
  disabledAt: iso(disabledAt),
  disabledReason: disabledReason || null,
});

export const view = (key: identity.Key): Record<string, unknown> => ({
  id: key.id,
  name: key.name,
  start: key.start,
  preset: key.preset,
  capabilities: key.capabilities,
  ...(key.madeBy === key.userId ? {} : { createdBy: key.madeBy }),
  ...(Object.keys(key.metadata).length > 0 ? { metadata: key.metadata } : {}),
  ...(key.alias ? { alias: key.alias } : {}),
  createdAt: iso(key.createdAt),
  lastUsedAt: iso(key.lastUsedAt),
  expiresAt: iso(key.expiresAt),
  ...(key.deletedAt ? { deletedAt: iso(key.deletedAt) } : {}),
  webhook: key.webhook ? webhookView(key.webhook) : null,
});

/** Members of a key in the audit. */
export const auditedKey = ({ id, name: keyName, capabilities: grants, alias, webhook }: identity.Key) => ({
  ...{ id, name: keyName, capabilities: grants },
  ...(alias ? { alias } : {}),
  webhook: webhook?.url ?? null,
});

export const keyOf = ({ key }: { key: identity.Key | undefined }): identity.Key => {
  if (!key) throw new Error("identity answered without a key");
  return key;
};

/** Absent if there are none. */
export const warningsView = (keyWarnings: string[]): Record<string, unknown> => (keyWarnings.length > 0 ? { warnings: keyWarnings } : {});

export const issuedView = (reply: identity.CreateKeyResponse): Record<string, unknown> => ({
  ...view(keyOf(reply)),
  ...warningsView(reply.warnings),
  key: reply.value,
  webhookSecret: reply.webhookSecret || undefined,
});
