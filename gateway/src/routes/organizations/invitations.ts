import { ORGANIZATION_BOUNDS } from "@nodeloom/kernel";
import { z } from "zod";
import { notFound } from "../../http/errors";
import { defineRoute, type CallContext } from "../../edge/route";
import { identifier, listQuery, type ParamsSpec } from "../../http/schemas";
import { audited } from "../../edge/audit";
import { sendSoon } from "../../edge/mails";
import { auditedChange, ofOrganization, requireShared, shared, which } from "./shared";
import { invitation, invitationView, newInvitation, organization, organizationView } from "./view";
import { jsonBody } from "../../http/body/kinds";

/** Invitations: links that add one member once. */

/** The console's page for joining. The fragment after `#` isn't sent to servers. */
const INVITATION_PATH = "/invitation#token=";
const MAX_TOKEN_CHARS = 2_000;

const TOKEN = "Token for `POST /api/invitations/accept`, also contained in the link, which is accepted too";

/** People paste the whole link. */
const tokenOf = (tokenOrLink: string): string => tokenOrLink.trim().split(INVITATION_PATH).at(-1)!;
const issued = invitation
  .extend({
    link: z.string().meta({ description: "A link for the invited person: works once, before it expires. Shown only once" }),
    token: z.string().meta({ description: TOKEN }),
  })
  .meta({ id: "IssuedInvitation" });

const invitationParams: ParamsSpec<{ id: string; invitationId: string }> = {
  schema: z.object({ id: identifier, invitationId: identifier }),
  invalid: () => notFound("invitation"),
};

type Inviting = CallContext<"session", { id: string }, unknown, z.infer<typeof newInvitation>>;

/** Creates an invitation with its link, and mails it if `email` is given. */
const invite = async (context: Inviting): Promise<z.infer<typeof issued>> => {
  const { gateway, params, body } = context;
  const { role, email = "" } = body;
  return auditedChange(context, "owner", { action: "invitation.create", target: params.id, change: body }, async (membership) => {
    const { invitation: created, token } = await gateway.services.organizations.createInvitation({ ...which(context), role, email });
    const view = invitationView(created);
    const link = `${gateway.publicBaseUrl}${INVITATION_PATH}${token}`;
    if (email !== "") {
      const { id: userId, email: inviterName } = context.caller.person;
      const value = { to: email, organizationName: membership?.organization?.name ?? "", inviterName, link, userId };
      sendSoon(context, { id: `invitation:${view.id}`, mail: { $case: "invitation", value } });
    }
    return { value: { ...view, link, token }, after: view };
  });
};

export const invitationRoutes = [
  defineRoute({
    ...ofOrganization,
    method: "GET",
    path: "/api/organizations/:id/invitations",
    query: listQuery(),
    operationId: "listInvitations",
    summary: "List the invitations that can still be used, oldest first",
    description: "Owners only.",
    responses: { 200: z.array(invitation) },
    errors: ["NOT_FOUND", "CAPABILITY_DENIED", "PRECONDITION_FAILED"],
    handler: async (context) => {
      requireShared(context);
      const { invitations } = await context.gateway.services.organizations.listInvitations(which(context));
      return { status: 200, body: invitations.map(invitationView) };
    },
  }),
  defineRoute({
    ...ofOrganization,
    method: "POST",
    path: "/api/organizations/:id/invitations",
    operationId: "createInvitation",
    summary: "Create an invitation link",
    description: `Owners only. If mail is configured, \`email\` gets the link. It works once, for ${ORGANIZATION_BOUNDS.invitationDays} days, while its creator is an owner. At most ${ORGANIZATION_BOUNDS.invitations} can be open.`,
    approval: true,
    body: jsonBody(newInvitation),
    responses: { 201: issued },
    errors: ["NOT_FOUND", "CAPABILITY_DENIED", "ACCOUNT_NOT_APPROVED", "PRECONDITION_FAILED"],
    example: { role: "editor", email: "grace@example.com" },
    handler: async (context) => {
      requireShared(context);
      return { status: 201, body: await invite(context) };
    },
  }),
  defineRoute({
    ...ofOrganization,
    method: "DELETE",
    path: "/api/organizations/:id/invitations/:invitationId",
    params: invitationParams,
    operationId: "deleteInvitation",
    summary: "Withdraw an invitation",
    description: "Owners only.",
    responses: { 204: null },
    errors: ["NOT_FOUND", "CAPABILITY_DENIED", "PRECONDITION_FAILED"],
    handler: async (context) => {
      const { gateway, params } = context;
      requireShared(context);
      await auditedChange(context, "owner", { action: "invitation.delete", target: params.invitationId }, async () => ({
        value: await gateway.services.organizations.deleteInvitation({ ...which(context), invitationId: params.invitationId }),
      }));
      return { status: 204 };
    },
  }),
  defineRoute({
    ...shared,
    method: "POST",
    path: "/api/invitations/accept",
    operationId: "acceptInvitation",
    summary: "Accept an invitation to an organization",
    description: "Returns NOT_FOUND if the token is unknown, used, withdrawn or expired.",
    approval: true,
    body: jsonBody(
      z.strictObject({ token: z.string().min(1).max(MAX_TOKEN_CHARS).meta({ description: TOKEN }) }).meta({ id: "InvitationToken" }),
    ),
    responses: { 200: organization },
    errors: ["NOT_FOUND", "ALREADY_EXISTS", "ACCOUNT_NOT_APPROVED", "PRECONDITION_FAILED"],
    handler: async (context) => {
      const { gateway, caller, body } = context;
      const service = gateway.services.organizations;
      // Only valid tokens leave an audit row.
      const token = tokenOf(body.token);
      const { organizationId: ownerId, role } = await service.checkInvitation({ token });
      const action = { action: "member.join", target: caller.person.id, ownerId };
      const joined = await audited(context, action, async () => {
        const { membership } = await service.acceptInvitation({ personId: caller.person.id, token });
        return { value: organizationView(membership), after: { role } };
      });
      return { status: 200, body: joined };
    },
  }),
];
