import { ENTERPRISE_CAPS, USUAL_CAPS } from "@nodeloom/kernel";
import { z } from "zod";
import { recordEvent } from "../../edge/audit";
import { defineRoute } from "../../edge/route";
import { balances, balancesView } from "../identity/view";
import { auditedChange, isPersonal, ofOrganization, requireShared, shared, which } from "./shared";
import { naming, organization, organizationView, personalView } from "./view";
import { listQuery } from "../../http/schemas";
import { jsonBody } from "../../http/body/kinds";

const withCredits = organization.extend({ credits: balances }).meta({ id: "OrganizationWithCredits" });

export const organizationRoutes = [
  defineRoute({
    ...shared,
    method: "GET",
    path: "/api/organizations",
    query: listQuery(),
    operationId: "listOrganizations",
    summary: "List the organizations that the caller is a member of",
    description: "The caller's own account comes first, then organizations, oldest first. Send an id as `X-Organization` to act for it.",
    responses: { 200: z.array(organization) },
    handler: async ({ gateway, caller }) => {
      const { memberships } = await gateway.services.organizations.listOrganizations({ personId: caller.person.id });
      return { status: 200, body: [personalView(caller), ...memberships.map(organizationView)] };
    },
  }),
  defineRoute({
    ...shared,
    method: "POST",
    path: "/api/organizations",
    operationId: "createOrganization",
    summary: "Create an organization with the caller as owner",
    description: `It gets its creator's tier and its own account, without plan credits and trial runs. A person can create at most ${USUAL_CAPS.organizations} (Enterprise: ${ENTERPRISE_CAPS.organizations}).`,
    approval: true,
    idempotent: "replay",
    body: jsonBody(naming),
    headers: ["Location"],
    responses: { 201: organization },
    errors: ["ACCOUNT_NOT_APPROVED", "PRECONDITION_FAILED"],
    example: { name: "Loom Works" },
    handler: async (context) => {
      const { gateway, caller, body } = context;
      const { membership } = await gateway.services.organizations.createOrganization({ personId: caller.person.id, name: body.name });
      const newOrganization = organizationView(membership);
      const { id: ownerId } = newOrganization;
      await recordEvent(context, { actorId: caller.person.id, ownerId, action: "organization.create", target: ownerId });
      return { status: 201, body: newOrganization, headers: { Location: `/api/organizations/${newOrganization.id}` } };
    },
  }),
  defineRoute({
    ...ofOrganization,
    method: "GET",
    path: "/api/organizations/:id",
    operationId: "getOrganization",
    summary: "Get an organization with its balances",
    responses: { 200: withCredits },
    handler: async (context) => {
      const { gateway, caller, params } = context;
      const ownView = isPersonal(context)
        ? personalView(caller)
        : organizationView((await gateway.services.organizations.getMembership(which(context))).membership);
      const { account } = await gateway.services.billing.getAccount({ userId: params.id });
      return { status: 200, body: { ...ownView, credits: balancesView(account) } };
    },
  }),
  defineRoute({
    ...ofOrganization,
    method: "PATCH",
    path: "/api/organizations/:id",
    operationId: "renameOrganization",
    summary: "Rename an organization",
    description: "Owners only.",
    body: jsonBody(naming),
    responses: { 200: organization },
    errors: ["NOT_FOUND", "CAPABILITY_DENIED", "PRECONDITION_FAILED"],
    handler: async (context) => {
      const { gateway, params, body } = context;
      requireShared(context);
      const action = { action: "organization.rename", target: params.id, change: body };
      const renamed = await auditedChange(context, "owner", action, async () => {
        const request = { ...which(context), name: body.name };
        const { membership, nameBefore } = await gateway.services.organizations.renameOrganization(request);
        return { value: organizationView(membership), before: { name: nameBefore }, after: body };
      });
      return { status: 200, body: renamed };
    },
  }),
];
