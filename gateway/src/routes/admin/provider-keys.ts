import { DomainError, SECRET_BOUNDS } from "@nodeloom/kernel";
import { PLATFORM_OWNER } from "@nodeloom/platform";
import { identity, type models } from "@nodeloom/proto";
import { z } from "zod";
import type { Gateway } from "../../edge/gateway";
import { notFound } from "../../http/errors";
import { defineRoute, type RouteDefinition } from "../../edge/route";
import { headerValue, iso, listQuery, timestamp, type ParamsSpec } from "../../http/schemas";
import { audited } from "../../edge/audit";
import { findUser } from "./shared";
import { jsonBody } from "../../http/body/kinds";

/** Keys of providers: set here, used by executions, never shown again. */

const forSignedInAdmins = { tag: "Admin", auth: "admin-session", role: "self", limit: "user" } as const satisfies Partial<
  RouteDefinition<"admin-session">
>;
const name = z.string().regex(/^[A-Z][A-Z0-9_]{0,63}$/);
const params: ParamsSpec<{ name: string }> = {
  schema: z.object({ name: name.meta({ example: "OPENAI_API_KEY" }) }),
  invalid: () => notFound("provider key"),
};

const providerKey = z
  .object({
    name: name.meta({ description: "Environment variable for the key", example: "OPENAI_API_KEY" }),
    account: z.string().meta({ description: "Owner of the key", example: "OpenAI" }),
    keysUrl: z.string().nullable().meta({ description: "Page where you create keys" }),
    models: z.array(z.string()).meta({ description: "Models that need it" }),
    source: z
      .enum(["environment", "console"])
      .nullable()
      .meta({ description: "Source of the key, or `null` if it isn't set. The environment takes precedence", example: "console" }),
    hint: z.string().nullable().meta({ description: "Last four characters of a key entered in the console", example: "x4Bz" }),
    setAt: timestamp.nullable(),
    setBy: z.object({ id: z.string(), email: z.string().nullable() }).nullable(),
    testable: z.boolean().meta({ description: "True if a free request can check the key" }),
  })
  .meta({ id: "ProviderKey" });
type ProviderKeyView = z.infer<typeof providerKey>;

const list = z
  .object({
    configured: z.boolean().meta({ description: "True if this installation can store keys (`SECRETS_KEYS`)" }),
    keys: z.array(providerKey),
  })
  .meta({ id: "ProviderKeys" });

const test = z
  .object({
    outcome: z.enum(["works", "refused", "unreachable", "not_set", "not_testable"]),
    message: z.string().nullable().meta({ description: "The provider's message, without secrets" }),
    providerStatus: z.number().nullable(),
  })
  .meta({ id: "ProviderKeyTest" });

const viewOf = (key: models.ProviderKey, secret: identity.Secret | undefined, emails: ReadonlyMap<string, string>): ProviderKeyView => {
  const stored = key.inEnvironment ? undefined : secret;
  return {
    name: key.name,
    account: key.account,
    keysUrl: key.keysUrl || null,
    models: key.models,
    source: key.inEnvironment ? "environment" : stored ? "console" : null,
    hint: stored?.hint || null,
    setAt: iso(stored?.setAt),
    setBy: stored ? { id: stored.setBy, email: emails.get(stored.setBy) ?? null } : null,
    testable: key.testable,
  };
};

/** Email addresses by user id; erased users have none. */
const emailsOf = async (gateway: Gateway, ids: readonly string[]): Promise<Map<string, string>> => {
  const emails = await Promise.all(
    [...new Set(ids)].map(async (userId) => [userId, (await findUser(gateway, userId))?.email ?? ""] as const),
  );
  return new Map(emails.filter(([, email]) => email !== ""));
};

const readAll = async (gateway: Gateway): Promise<z.infer<typeof list>> => {
  const { services } = gateway;
  const [{ keys }, { secrets, configured }] = await Promise.all([
    services.models.listProviderKeys({}),
    services.identity.listSecrets({ owner: PLATFORM_OWNER }),
  ]);
  const emails = await emailsOf(gateway, secrets.map(({ setBy }) => setBy)); // prettier-ignore
  const byName = new Map(secrets.map((secret) => [secret.name, secret]));
  return { configured, keys: keys.map((key) => viewOf(key, byName.get(key.name), emails)) };
};

/** @throws DomainError NOT_FOUND for a name that no model needs */
const find = async (gateway: Gateway, keyName: string): Promise<ProviderKeyView> => {
  const key = (await readAll(gateway)).keys.find((one) => one.name === keyName);
  if (!key) throw notFound("provider key");
  return key;
};

/** Members of a key in the audit. */
const recorded = ({ source, hint }: ProviderKeyView) => ({ source, hint });

const ofKey = { ...forSignedInAdmins, path: "/api/admin/provider-keys/:name", params } as const;

export const adminProviderKeyRoutes = [
  defineRoute({
    ...forSignedInAdmins,
    method: "GET",
    path: "/api/admin/provider-keys",
    query: listQuery(),
    operationId: "adminListProviderKeys",
    summary: "List the keys of providers that models need, without their values",
    responses: { 200: list },
    handler: async ({ gateway }) => ({ status: 200, body: await readAll(gateway) }),
  }),
  defineRoute({
    ...ofKey,
    method: "PUT",
    operationId: "adminPutProviderKey",
    summary: "Set the key of a provider, or replace it",
    description: "Its models are ready within a second, without a restart. The value is encrypted and never shown again.",
    body: jsonBody(z.strictObject({ value: headerValue(SECRET_BOUNDS.valueChars) }).meta({ id: "NewProviderKey" })),
    responses: { 200: providerKey },
    errors: ["NOT_FOUND", "ALREADY_EXISTS", "NOT_CONFIGURED", "PRECONDITION_FAILED"],
    example: { value: "the key, as the provider shows it" },
    handler: async (context) => {
      const { gateway, caller, params: keyParams, body } = context;
      const before = await find(gateway, keyParams.name);
      if (before.source === "environment")
        throw new DomainError(
          "conflict",
          "ALREADY_EXISTS",
          `${keyParams.name} is set in the platform's environment, which takes precedence: change it there`,
        );
      const action = { action: "provider-key.put", target: keyParams.name, before: recorded(before) };
      const after = await audited(context, action, async () => {
        const { identity: service, models } = gateway.services;
        const hosts = (await models.listProviderKeys({})).keys.find(({ name: one }) => one === keyParams.name)?.addresses ?? [];
        const secret = { owner: PLATFORM_OWNER, name: keyParams.name, hosts, setBy: caller.user.id };
        await service.putSecret({ ...identity.PutSecretRequest.fromPartial(secret), value: body.value });
        const stored = await find(gateway, keyParams.name);
        return { value: stored, after: recorded(stored) };
      });
      return { status: 200, body: after };
    },
  }),
  defineRoute({
    ...ofKey,
    method: "DELETE",
    operationId: "adminDeleteProviderKey",
    summary: "Remove the key of a provider",
    description: "Active runs that need it fail at their next call.",
    responses: { 204: null },
    errors: ["NOT_FOUND"],
    handler: async (context) => {
      const { gateway, params: keyParams } = context;
      const before = await find(gateway, keyParams.name);
      await audited(context, { action: "provider-key.delete", target: keyParams.name, before: recorded(before) }, async () => ({
        value: await gateway.services.identity.deleteSecret({ owner: PLATFORM_OWNER, name: keyParams.name }),
      }));
      return { status: 204 };
    },
  }),
  defineRoute({
    ...ofKey,
    method: "POST",
    path: "/api/admin/provider-keys/:name/test",
    operationId: "adminTestProviderKey",
    summary: "Check a provider's key with a free request",
    responses: { 200: test },
    errors: ["NOT_FOUND", "NOT_CONFIGURED"],
    handler: async ({ gateway, params: keyParams }) => {
      const { outcome, message, providerStatus } = await gateway.services.executions.testProviderKey({ name: keyParams.name });
      return { status: 200, body: { outcome, message: message || null, providerStatus: providerStatus || null } };
    },
  }),
];
