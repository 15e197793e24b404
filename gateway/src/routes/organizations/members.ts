import { DomainError } from "@nodeloom/kernel";
import { z } from "zod";
import { notFound } from "../../http/errors";
import { defineRoute, type CallContext } from "../../edge/route";
import { identifier, listQuery, type ParamsSpec } from "../../http/schemas";
import { hideWorkflows } from "../admin/organizations";
import { auditedChange, ofOrganization, requireShared, which } from "./shared";
import { member, memberView, role } from "./view";
import { jsonBody } from "../../http/body/kinds";

const memberParams: ParamsSpec<{ id: string; userId: string }> = {
  schema: z.object({ id: identifier, userId: identifier }),
  invalid: () => notFound("member"),
};
const ofMember = { ...ofOrganization, path: "/api/organizations/:id/members/:userId", params: memberParams } as const;
const LAST_OWNER = "If no owner would be left, you get PRECONDITION_FAILED.";

/** The organization's tier and suspension can now depend on another owner. */
const followTier = async ({ gateway, params, logger }: Pick<CallContext<"session", { id: string }>, "gateway" | "params" | "logger">) => {
  try {
    const { user } = await gateway.services.identity.getUser({ userId: params.id });
    if (user) await hideWorkflows(gateway.services, params.id, user.suspended);
  } catch (error) {
    if (!(error instanceof DomainError)) throw error;
    logger.warn({ err: error, organizationId: params.id }, "templates of an organization stay as they were shown");
  }
};

export const memberRoutes = [
  defineRoute({
    ...ofOrganization,
    method: "GET",
    path: "/api/organizations/:id/members",
    keyCapability: "members:read",
    query: listQuery(),
    operationId: "listMembers",
    summary: "List the members of an organization, longest-standing first",
    responses: { 200: z.array(member) },
    handler: async (context) => {
      const { gateway, caller, params } = context;
      // A key belongs to one organization, even if its maker is a member of several.
      if (caller.key && params.id !== caller.user.id) throw notFound("organization");
      if (params.id === caller.user.id && !caller.organization) {
        const { id: userId, email } = caller.user;
        return { status: 200, body: [{ userId, email, role: "owner", since: null }] };
      }
      // A service account isn't a member, but reads as an owner.
      const personId = caller.person.service && caller.organization ? caller.organization.tierOf : caller.person.id;
      const { members } = await gateway.services.organizations.listMembers({ personId, organizationId: params.id });
      return { status: 200, body: members.map(memberView) };
    },
  }),
  defineRoute({
    ...ofMember,
    method: "PATCH",
    operationId: "changeMember",
    summary: "Change the role of a member, everywhere within one second",
    description: `Owners only. ${LAST_OWNER} Active runs continue, because the organization owns them.`,
    body: jsonBody(z.strictObject({ role }).meta({ id: "MemberChange" })),
    responses: { 200: member },
    errors: ["NOT_FOUND", "CAPABILITY_DENIED", "PRECONDITION_FAILED"],
    example: { role: "viewer" },
    handler: async (context) => {
      const { gateway, params, body } = context;
      requireShared(context);
      const action = { action: "member.change", target: params.userId, change: body };
      const changed = await auditedChange(context, "owner", action, async () => {
        const request = { ...which(context), userId: params.userId, role: body.role };
        const { member: after, roleBefore } = await gateway.services.organizations.changeMember(request);
        if (!after) throw new Error("identity answered without a member");
        return { value: memberView(after), before: { role: roleBefore }, after: { role: after.role } };
      });
      await followTier(context);
      return { status: 200, body: changed };
    },
  }),
  defineRoute({
    ...ofMember,
    method: "DELETE",
    operationId: "removeMember",
    summary: "Remove a member, or leave",
    description: `Owners can remove others, and every member can leave. Keys that the member created stop working within one second. ${LAST_OWNER}`,
    responses: { 204: null },
    errors: ["NOT_FOUND", "CAPABILITY_DENIED", "PRECONDITION_FAILED"],
    handler: async (context) => {
      const { gateway, caller, params } = context;
      requireShared(context);
      const isOwn = params.userId === caller.person.id;
      const action = { action: isOwn ? "member.leave" : "member.remove", target: params.userId };
      await auditedChange(context, isOwn ? "viewer" : "owner", action, async () => {
        const { roleBefore } = await gateway.services.organizations.removeMember({ ...which(context), userId: params.userId });
        return { value: undefined, before: { role: roleBefore } };
      });
      await followTier(context);
      return { status: 204 };
    },
  }),
];
