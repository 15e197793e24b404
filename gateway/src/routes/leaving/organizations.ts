/** Owners and administrators delete organizations and cancel the deletion. */
import { applyAccountChanges } from "../../edge/plan-change";
import type { mail } from "@nodeloom/proto";
import { defineRoute, type CallContext } from "../../edge/route";
import { idParams } from "../../http/schemas";
import { audited } from "../../edge/audit";
import { forAdmins } from "../admin/shared";
import { sendSoon } from "../../edge/mails";
import { auditedChange, ofOrganization, requireShared } from "../organizations/shared";
import { addressOf, PASSWORD_CALL, withTier } from "../sign-in/session";
import { accountDeletion, BY_ADMINISTRATOR, leavingAccount, leavingView, proofOf, requestErasure } from "./routes";
import { jsonBody } from "../../http/body/kinds";

type Context = Pick<CallContext<"session", { id: string }>, "gateway" | "logger" | "caller" | "params">;
type Decision = "organizationLeaving" | "organizationKept";

const ADMINISTRATOR = "An administrator";

/** Emails the owners about the decision, once per date of erasure. */
const mailOwners = (context: Context, $case: Decision, erasesAt: Date | undefined, personName = context.caller.person.email): void => {
  if (!erasesAt) return;
  const { id: organizationId } = context.params;
  const value: mail.OrganizationDecisionMail = { organizationId, personName, erasesAt };
  sendSoon(context, { id: `${organizationId}:${erasesAt.toISOString()}`, mail: { $case, value } });
};

export const organizationLeavingRoutes = [
  defineRoute({
    ...ofOrganization,
    method: "DELETE",
    path: "/api/organizations/:id",
    operationId: "deleteOrganization",
    summary: "Schedule the deletion of an organization",
    description:
      "Owners only. Cancels all runs of the organization now, and rejects new ones. Until `erasesAt` members can read it, and any owner can cancel the deletion with `POST /api/organizations/{id}/restore`. Then everything is deleted except the ledger's amounts and ids. The owners get a mail. Repeating the request changes nothing. An owner without a password must have signed in within the last ten minutes.",
    body: jsonBody(accountDeletion),
    responses: { 202: leavingAccount },
    errors: ["NOT_FOUND", "CAPABILITY_DENIED", "PRECONDITION_FAILED"],
    example: { password: "correct horse battery staple" },
    handler: async (context) => {
      const { gateway, caller, params, request, body } = context;
      requireShared(context);
      const user = await auditedChange(context, "owner", { action: "organization.delete", target: params.id }, async () => {
        const proof = proofOf(context, body?.password);
        const erasureRequest = { userId: caller.person.id, organizationId: params.id, proof, address: addressOf(request) };
        return requestErasure(gateway, erasureRequest, PASSWORD_CALL).catch(withTier(caller.person.tier));
      });
      applyAccountChanges(gateway);
      mailOwners(context, "organizationLeaving", user?.erasesAt);
      return { status: 202, body: leavingView(user) };
    },
  }),
  defineRoute({
    ...ofOrganization,
    method: "POST",
    path: "/api/organizations/:id/restore",
    operationId: "restoreOrganization",
    summary: "Cancel the deletion of an organization",
    description: "Any owner can do this. Cancelled runs stay cancelled; schedules and hooks resume. Repeating the request changes nothing.",
    responses: { 204: null },
    errors: ["NOT_FOUND", "CAPABILITY_DENIED", "PRECONDITION_FAILED"],
    handler: async (context) => {
      const { gateway, caller, params } = context;
      requireShared(context);
      const erasesAt = await auditedChange(context, "owner", { action: "organization.restore", target: params.id }, async (membership) => {
        await gateway.services.accountErasure.withdrawErasure({ userId: caller.person.id, organizationId: params.id });
        return { value: membership?.organization?.erasesAt };
      });
      mailOwners(context, "organizationKept", erasesAt);
      return { status: 204 };
    },
  }),
];

const ofOne = { ...forAdmins, params: idParams("organization"), errors: ["NOT_FOUND", "PRECONDITION_FAILED"] } as const;

export const adminOrganizationLeavingRoutes = [
  defineRoute({
    ...ofOne,
    method: "DELETE",
    path: "/api/admin/organizations/:id",
    operationId: "adminDeleteOrganization",
    summary: "Schedule the deletion of an organization",
    description: "Works like `DELETE /api/organizations/{id}`.",
    responses: { 202: leavingAccount },
    handler: async (context) => {
      const { gateway, params } = context;
      const erasureRequest = { userId: "", organizationId: params.id, proof: BY_ADMINISTRATOR, address: "" };
      const user = await audited(context, { action: "organization.delete", target: params.id }, () =>
        requestErasure(gateway, erasureRequest),
      );
      applyAccountChanges(gateway);
      mailOwners(context, "organizationLeaving", user?.erasesAt, ADMINISTRATOR);
      return { status: 202, body: leavingView(user) };
    },
  }),
  defineRoute({
    ...ofOne,
    method: "POST",
    path: "/api/admin/organizations/:id/restore",
    operationId: "adminRestoreOrganization",
    summary: "Cancel the deletion of an organization",
    responses: { 204: null },
    handler: async (context) => {
      const { gateway, params } = context;
      const { user: before } = await gateway.services.identity.getUser({ userId: params.id });
      await audited(context, { action: "organization.restore", target: params.id }, async () => ({
        value: await gateway.services.accountErasure.withdrawErasure({ userId: "", organizationId: params.id }),
      }));
      mailOwners(context, "organizationKept", before?.erasesAt, ADMINISTRATOR);
      return { status: 204 };
    },
  }),
];
