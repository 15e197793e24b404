/** Deletes and exports accounts as an administrator. */
import { applyAccountChanges } from "../../edge/plan-change";
import { z } from "zod";
import { content, defineRoute } from "../../edge/route";
import { audited } from "../../edge/audit";
import { ofUser, requirePerson } from "../admin/shared";
import { exportPending, exportReady, exportReply, sendExport, today, ZIP } from "./export";
import { BY_ADMINISTRATOR, leavingAccount, leavingView, requestErasure } from "./routes";

export const adminLeavingRoutes = [
  defineRoute({
    ...ofUser,
    method: "POST",
    path: "/api/admin/users/:id/export",
    operationId: "adminExportUser",
    summary: "Export all data of a user",
    description: "Works like `GET /api/me/export`: returns 202 while the archive is created.",
    responses: { 200: exportReady, 202: exportPending },
    handler: async (context) => {
      const { gateway, params } = context;
      await requirePerson(gateway, params.id);
      return audited(context, { action: "user.export", target: params.id, reference: today() }, async () => ({
        value: await exportReply(gateway, params.id, `/api/admin/users/${params.id}/export/file`),
      }));
    },
  }),
  defineRoute({
    ...ofUser,
    method: "GET",
    path: "/api/admin/users/:id/export/file",
    operationId: "adminDownloadUserExport",
    summary: "The archive",
    responses: { 200: content({ [ZIP]: z.string().meta({ format: "binary" }) }) },
    handler: async (context) => {
      const { gateway, params } = context;
      await requirePerson(gateway, params.id);
      await audited(context, { action: "user.export-read", target: params.id }, () => Promise.resolve({ value: undefined }));
      return sendExport(context, params.id);
    },
  }),
  defineRoute({
    ...ofUser,
    method: "DELETE",
    path: "/api/admin/users/:id",
    operationId: "adminDeleteUser",
    summary: "Schedule the deletion of a user's account",
    description: "Works like `DELETE /api/me`. An administrator's account loses the role first.",
    responses: { 202: leavingAccount },
    errors: ["NOT_FOUND", "PRECONDITION_FAILED", "SOLE_OWNER"],
    handler: async (context) => {
      const { gateway, params } = context;
      const erasureRequest = { userId: params.id, organizationId: "", proof: BY_ADMINISTRATOR, address: "" };
      const user = await audited(context, { action: "user.delete", target: params.id }, () => requestErasure(gateway, erasureRequest));
      applyAccountChanges(gateway);
      return { status: 202, body: leavingView(user) };
    },
  }),
  defineRoute({
    ...ofUser,
    method: "POST",
    path: "/api/admin/users/:id/restore",
    operationId: "adminRestoreUser",
    summary: "Cancel the deletion of a user's account",
    responses: { 204: null },
    errors: ["NOT_FOUND", "PRECONDITION_FAILED"],
    handler: async (context) => {
      const { gateway, params } = context;
      await audited(context, { action: "user.restore", target: params.id }, async () => ({
        value: await gateway.services.accountErasure.withdrawErasure({ userId: params.id, organizationId: "" }),
      }));
      return { status: 204 };
    },
  }),
  defineRoute({
    ...ofUser,
    method: "DELETE",
    path: "/api/admin/users/:id/oidc",
    operationId: "adminUnlinkOidc",
    summary: "Unlink a user's account from the provider",
    description:
      "Also ends all sessions of the account. The account stays. If it has no password, its owner needs a reset link to sign in. Repeating the request changes nothing.",
    responses: { 204: null },
    handler: async (context) => {
      const { gateway, params } = context;
      await audited(context, { action: "user.oidc-unlink", target: params.id }, async () => {
        const { removed } = await gateway.services.signIn.resetOidc({ userId: params.id });
        return { value: removed, before: { linked: removed }, after: { linked: false } };
      });
      return { status: 204 };
    },
  }),
];
