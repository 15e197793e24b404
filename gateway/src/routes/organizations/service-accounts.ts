import { ENTERPRISE_CAPS, USUAL_CAPS } from "@nodeloom/kernel";
import type { organizations } from "@nodeloom/proto";
import { z } from "zod";
import { defineRoute } from "../../edge/route";
import { jsonBody } from "../../http/body/kinds";
import { notFound } from "../../http/errors";
import { identifier, idParams, iso, listQuery, name, timestamp, type ParamsSpec } from "../../http/schemas";
import { capabilities } from "../keys/fields";
import { auditedChange, ofOrganization, requireMember } from "./shared";

/** Service accounts: identities of programs, in an organization or a personal account. */

const serviceAccount = z
  .object({
    id: z.string(),
    name: z.string(),
    kind: z.literal("service"),
    email: z.string().meta({ description: "Identifies the account in lists; it gets no mail" }),
    capabilities: z.array(z.string()).meta({ description: "The most that its keys can have" }),
    createdBy: z.string().meta({ description: "User id; the account stays when this person leaves" }),
    createdAt: timestamp.nullable(),
  })
  .meta({ id: "ServiceAccount" });

const creation = z
  .strictObject({ name, capabilities })
  .meta({ id: "NewServiceAccount", example: { name: "Deploys", capabilities: ["keys:write", "workflow:write"] } });
const change = creation
  .partial()
  .refine((changes) => Object.keys(changes).length > 0, "send at least one of name, capabilities")
  .meta({ id: "ServiceAccountChange", override: { minProperties: 1 } });

const accountParams: ParamsSpec<{ id: string; accountId: string }> = {
  schema: z.object({ id: identifier, accountId: identifier }),
  invalid: () => notFound("service account"),
};
const accounts = { ...ofOrganization, path: "/api/organizations/:id/service-accounts", params: idParams("organization") } as const;
const account = { ...ofOrganization, path: "/api/organizations/:id/service-accounts/:accountId", params: accountParams } as const;

const view = (foundAccount: organizations.ServiceAccount | undefined): z.infer<typeof serviceAccount> => {
  if (!foundAccount) throw new Error("identity answered without a service account");
  const { id, name: accountName, email, createdBy, createdAt } = foundAccount;
  return { id, name: accountName, kind: "service", email, capabilities: foundAccount.capabilities, createdBy, createdAt: iso(createdAt) };
};

const auditedAccount = (foundAccount: organizations.ServiceAccount | undefined) => {
  const { name: accountName, capabilities: grants } = view(foundAccount);
  return { name: accountName, capabilities: grants };
};

const ownerOf = ({ caller, params }: { caller: { person: { id: string } }; params: { id: string } }) => ({
  personId: caller.person.id,
  ownerId: params.id,
});

export const serviceAccountRoutes = [
  defineRoute({
    ...accounts,
    method: "GET",
    query: listQuery(),
    operationId: "listServiceAccounts",
    summary: "List the service accounts of an organization, oldest first",
    description: "Owners only. With the id of your own account, yours.",
    responses: { 200: z.array(serviceAccount) },
    handler: async (context) => {
      await requireMember(context, "owner");
      const { serviceAccounts } = await context.gateway.services.organizations.listServiceAccounts(ownerOf(context));
      return { status: 200, body: serviceAccounts.map(view) };
    },
  }),
  defineRoute({
    ...accounts,
    method: "POST",
    operationId: "createServiceAccount",
    summary: "Create a service account for a program",
    description: `Owners only. With the id of your own account, for your account. It signs in by its API keys only: create the first one with \`POST /api/keys\` and \`serviceAccountId\`. It stays when you leave. An organization can have ${USUAL_CAPS.serviceAccounts} (Enterprise: ${ENTERPRISE_CAPS.serviceAccounts}); they share one rate limit per endpoint.`,
    approval: true,
    idempotent: "replay",
    body: jsonBody(creation),
    headers: ["Location"],
    responses: { 201: serviceAccount },
    errors: ["NOT_FOUND", "CAPABILITY_DENIED", "API_KEY_ACCESS_DENIED", "CAPABILITY_ABOVE_CEILING", "PRECONDITION_FAILED"],
    handler: async (context) => {
      const { gateway, params, body } = context;
      const action = { action: "service-account.create", target: body.name, change: body };
      const created = await auditedChange(context, "owner", action, async () => {
        const request = { ...ownerOf(context), ...body };
        const { serviceAccount: value } = await gateway.services.organizations.createServiceAccount(request);
        return { value: view(value), after: { id: value?.id, ...auditedAccount(value) } };
      });
      return { status: 201, body: created, headers: { Location: `/api/organizations/${params.id}/service-accounts/${created.id}` } };
    },
  }),
  defineRoute({
    ...account,
    method: "PATCH",
    operationId: "updateServiceAccount",
    summary: "Rename a service account, or change its capabilities",
    description: "Owners only. `capabilities` replaces all capabilities. Its keys lose those that it loses within one second.",
    body: jsonBody(change),
    responses: { 200: serviceAccount },
    errors: ["NOT_FOUND", "CAPABILITY_DENIED", "CAPABILITY_ABOVE_CEILING", "API_KEY_ACCESS_DENIED", "ACCOUNT_NOT_APPROVED"],
    example: { name: "Deploys (production)" },
    handler: async (context) => {
      const { gateway, params, body } = context;
      const action = { action: "service-account.update", target: params.accountId, change: body };
      const changed = await auditedChange(context, "owner", action, async () => {
        const grants = body.capabilities && { capabilities: body.capabilities };
        const request = { ...ownerOf(context), id: params.accountId, name: body.name, capabilities: grants };
        const { serviceAccount: value, before } = await gateway.services.organizations.updateServiceAccount(request);
        return { value: view(value), before: auditedAccount(before), after: auditedAccount(value) };
      });
      return { status: 200, body: changed };
    },
  }),
  defineRoute({
    ...account,
    method: "DELETE",
    operationId: "deleteServiceAccount",
    summary: "Delete a service account and its keys",
    description: "Owners only. Its keys, and the schedules that they created, stop within one second. Its active runs continue.",
    responses: { 204: null },
    handler: async (context) => {
      const { gateway, params } = context;
      const action = { action: "service-account.delete", target: params.accountId };
      await auditedChange(context, "owner", action, async () => {
        const request = { ...ownerOf(context), id: params.accountId };
        const { serviceAccount: removed } = await gateway.services.organizations.deleteServiceAccount(request);
        return { value: undefined, before: auditedAccount(removed) };
      });
      return { status: 204 };
    },
  }),
];
