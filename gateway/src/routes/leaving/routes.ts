/** Deleting an account: export its data, request the deletion, or cancel it. */
import { applyAccountChanges } from "../../edge/plan-change";
import { invalidRequest } from "@nodeloom/kernel";
import { type accountErasure, type identity } from "@nodeloom/proto";
import { z } from "zod";
import { RECENT_SIGN_IN_MS } from "../../http/limits";
import type { Gateway } from "../../edge/gateway";
import { content, defineRoute, type CallContext } from "../../edge/route";
import { iso, timestamp } from "../../http/schemas";
import { audited, auditedForOwner } from "../../edge/audit";
import { password } from "../sign-in/fields";
import { addressOf, PASSWORD_CALL, withTier } from "../sign-in/session";
import { exportPending, exportReady, exportReply, sendExport, today, ZIP } from "./export";
import { jsonBody } from "../../http/body/kinds";

const mine = { tag: "Identity", auth: "session", role: "self", limit: "user" } as const;
const OWN_FILE = "/api/me/export/file";

export const accountDeletion = z
  .strictObject({ password: password.optional() })
  .optional()
  .meta({ id: "AccountDeletion", description: "`password` is required if the account has one" });
export const leavingAccount = z
  .object({ erasesAt: timestamp.meta({ description: "You can cancel the deletion until then. After that it is permanent" }) })
  .meta({ id: "LeavingAccount" });

export const leavingView = (user: identity.User | undefined): Record<string, unknown> => ({ erasesAt: iso(user?.erasesAt) });

type Proof = accountErasure.RequestErasureRequest["proof"];

/** Proof that the owner sends the request, not a person at an unattended session. */
export const proofOf = ({ gateway, request }: Pick<CallContext, "gateway" | "request">, ownPassword: string | undefined): Proof => {
  if (ownPassword !== undefined) return { $case: "password", value: ownPassword };
  if (gateway.sessions.isRecent(request, RECENT_SIGN_IN_MS)) return { $case: "recentSignIn", value: true };
  const minutes = RECENT_SIGN_IN_MS / 60_000;
  const message = `is required; without a password, sign in again and retry within ${minutes} minutes`;
  throw invalidRequest([{ path: "password", message }]);
};

export const BY_ADMINISTRATOR = { $case: "byAdministrator", value: true } as const satisfies Proof;

/** Marks an account for erasure, with an audit row. */
export const requestErasure = async (
  { services }: Pick<Gateway, "services">,
  erasureRequest: accountErasure.RequestErasureRequest,
  options?: typeof PASSWORD_CALL,
) => {
  const { user } = await services.accountErasure.requestErasure(erasureRequest, options);
  return { value: user, after: leavingView(user) };
};

export const leavingRoutes = [
  defineRoute({
    ...mine,
    method: "GET",
    path: "/api/me/export",
    operationId: "exportAccount",
    summary: "Export all data of the account",
    description:
      "The first request starts the export. Repeat the request until the response is 200 instead of 202. The archive is a ZIP file of workflows with their versions, executions, usage, the ledger, settings, names of keys and secrets (never their values), and files; its `README.txt` explains them. One archive is created at a time and can be downloaded for a day.",
    responses: { 200: exportReady, 202: exportPending },
    handler: (context) => {
      const { gateway, caller } = context;
      const action = { action: "account.export", target: caller.user.id, reference: today() };
      return auditedForOwner(context, action, async () => ({ value: await exportReply(gateway, caller.user.id, OWN_FILE) }));
    },
  }),
  defineRoute({
    ...mine,
    method: "GET",
    path: OWN_FILE,
    operationId: "downloadAccountExport",
    summary: "The archive",
    responses: { 200: content({ [ZIP]: z.string().meta({ format: "binary" }) }) },
    errors: ["NOT_FOUND"],
    handler: async (context) => {
      const { id } = context.caller.user;
      await auditedForOwner(context, { action: "account.export-read", target: id }, () => Promise.resolve({ value: undefined }));
      return sendExport(context, id);
    },
  }),
  defineRoute({
    ...mine,
    method: "DELETE",
    path: "/api/me",
    operationId: "deleteAccount",
    summary: "Schedule the deletion of the account",
    description:
      "Cancels all runs now, and rejects new ones. Until `erasesAt` you can sign in and cancel the deletion with `POST /api/me/restore`. Then everything is deleted except the ledger's amounts and ids. Repeating the request changes nothing. An account without a password must have signed in within the last ten minutes.",
    body: jsonBody(accountDeletion),
    responses: { 202: leavingAccount },
    errors: ["PRECONDITION_FAILED", "SOLE_OWNER"],
    example: { password: "correct horse battery staple" },
    handler: async (context) => {
      const { gateway, caller, request, body } = context;
      const erasureRequest = {
        userId: caller.user.id,
        organizationId: "",
        proof: proofOf(context, body?.password),
        address: addressOf(request),
      };
      const user = await audited(context, { action: "account.delete", target: caller.user.id }, () =>
        requestErasure(gateway, erasureRequest, PASSWORD_CALL).catch(withTier(caller.user.tier)),
      );
      applyAccountChanges(gateway);
      return { status: 202, body: leavingView(user) };
    },
  }),
  defineRoute({
    ...mine,
    method: "POST",
    path: "/api/me/restore",
    operationId: "restoreAccount",
    summary: "Cancel the deletion of the account",
    description: "Cancelled runs stay cancelled; schedules and hooks resume. Repeating the request changes nothing.",
    responses: { 204: null },
    errors: ["PRECONDITION_FAILED"],
    handler: async (context) => {
      const { gateway, caller } = context;
      await audited(context, { action: "account.restore", target: caller.user.id }, async () => ({
        value: await gateway.services.accountErasure.withdrawErasure({ userId: caller.user.id, organizationId: "" }),
      }));
      return { status: 204 };
    },
  }),
];
