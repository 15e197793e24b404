import { preconditionFailed } from "@nodeloom/kernel";
import { identity } from "@nodeloom/proto";
import { z } from "zod";
import { defineRoute } from "../../edge/route";
import { cursor, cursorPage, identifier, iso, limit, listQuery, name, nextCursor, queryFlag, tierId, timestamp } from "../../http/schemas";
import { adminUser, adminUserView, balances, balancesView } from "../identity/view";
import { sendSoon } from "../../edge/mails";
import { audited } from "../../edge/audit";
import { hideOrganizationsOf } from "./organizations";
import { applyAccountChanges, applyPlan, setConcurrency } from "../../edge/plan-change";
import { forAdmins, ofUser, requirePerson } from "./shared";
import { jsonBody } from "../../http/body/kinds";

const userChanges = z
  .strictObject({
    approved: z.boolean().optional(),
    suspended: z.boolean().optional(),
    tier: tierId.optional(),
    role: z.enum(["user", "admin"]).optional(),
    business: z
      .strictObject({ name: name.meta({ example: "Loom Works Ltd" }), verified: z.boolean() })
      .nullable()
      .optional()
      .meta({ description: "Null: removes the business" }),
  })
  .refine((changes) => Object.keys(changes).length > 0, "give at least one of approved, suspended, tier, role, business")
  .meta({ id: "UserChanges", override: { minProperties: 1 } });

const resetLink = z
  .object({
    link: z.string().meta({ description: "A link for the user: sets a new password once, before it expires. Shown only once" }),
    token: z.string().meta({ description: "Token for `POST /api/auth/password-reset`, also contained in the link" }),
    expiresAt: timestamp,
  })
  .meta({ id: "PasswordResetLink" });
const userWithCredits = adminUser.extend({ credits: balances }).meta({ id: "AdminUserWithCredits" });

/** The console's page for a new password. The fragment after `#` isn't sent to servers. */
const RESET_PATH = "/reset-password#token=";

export const adminUserRoutes = [
  defineRoute({
    ...forAdmins,
    method: "GET",
    path: "/api/admin/users",
    operationId: "adminListUsers",
    summary: "List users",
    query: listQuery(z.object({ approved: queryFlag.optional(), q: identifier.optional(), limit, cursor: cursor.optional() })),
    responses: { 200: cursorPage(adminUser) },
    handler: async ({ gateway, query }) => {
      const page = await gateway.services.identity.listUsers({
        approved: query.approved,
        query: query.q ?? "",
        limit: query.limit,
        cursor: query.cursor ?? "",
      });
      return { status: 200, body: { rows: page.users.map(adminUserView), nextCursor: nextCursor(page.nextCursor) } };
    },
  }),
  defineRoute({
    ...ofUser,
    method: "GET",
    path: "/api/admin/users/:id",
    operationId: "adminGetUser",
    summary: "A user, with balances",
    responses: { 200: userWithCredits },
    handler: async ({ gateway, params }) => {
      const userId = params.id;
      const [user, { account }] = await Promise.all([requirePerson(gateway, userId), gateway.services.billing.getAccount({ userId })]);
      return { status: 200, body: { ...adminUserView(user), credits: balancesView(account) } };
    },
  }),
  defineRoute({
    ...ofUser,
    method: "PATCH",
    path: "/api/admin/users/:id",
    operationId: "adminUpdateUser",
    summary: "Approve or suspend a user, or change the tier, the role or the business",
    description:
      "Approval adds the credits of the tier. Suspension ends all sessions, cancels runs, hides templates and public schemas from others, and rejects keys and sign-ins while it lasts, everywhere within one second. Removing approval ends sessions, keys and runs once. Repeating the request completes a change that was interrupted.",
    body: jsonBody(userChanges),
    responses: { 200: adminUser },
    errors: ["NOT_FOUND", "PRECONDITION_FAILED"],
    example: { approved: true, tier: "pro" },
    handler: async (context) => {
      const { gateway, caller, params, body } = context;
      const isOwn = params.id === caller.user.id;
      if (isOwn && body.suspended) throw preconditionFailed("administrators can't suspend themselves");
      if (isOwn && (body.role === "user" || body.approved === false))
        throw preconditionFailed("administrators can't remove their own role or approval: another administrator can");
      const { identity: service } = gateway.services;
      const person = await requirePerson(gateway, params.id);
      const action = { action: "user.update", target: params.id, change: body, before: adminUserView(person) };
      const changed = await audited(context, action, async () => {
        const { user, before } = await service.updateUser(
          identity.UpdateUserRequest.fromPartial({
            userId: params.id,
            approved: body.approved,
            suspended: body.suspended,
            tier: body.tier,
            role: body.role,
            ...(body.business === undefined ? {} : { business: { business: body.business ?? undefined } }),
          }),
        );
        if (!user || !before) throw new Error("identity answered without a user");
        return { value: { user, before }, before: adminUserView(before), after: adminUserView(user) };
      });
      if (changed.user.approved && !changed.before.approved) {
        const { id: userId, revision } = changed.user;
        sendSoon(context, { id: String(revision), mail: { $case: "approval", value: { userId } } });
      }
      if (body.suspended || body.approved === false) applyAccountChanges(gateway);
      if (body.suspended !== undefined) {
        const { id: ownerId, suspended, revision: userRevision } = changed.user;
        await gateway.services.workflows.setOwnerSuspended({ ownerId, suspended, userRevision });
        await hideOrganizationsOf(gateway.services, ownerId, suspended);
      }
      if (body.approved !== undefined || body.tier !== undefined) await applyPlan(gateway.services, changed.before, changed.user);
      if (body.tier !== undefined) await setConcurrency(gateway.services, changed.user, gateway.logger);
      return { status: 200, body: adminUserView(changed.user) };
    },
  }),
  defineRoute({
    ...ofUser,
    method: "POST",
    path: "/api/admin/users/:id/password-reset",
    operationId: "adminResetPassword",
    summary: "Create a link to set a user's password",
    description: "The link works once, for an hour. Earlier links stop working. The old password works until then.",
    responses: { 201: resetLink },
    handler: async (context) => {
      const { gateway, params } = context;
      const action = { action: "user.password-reset", target: params.id };
      const { token, expiresAt } = await audited(context, action, async () => ({
        value: await gateway.services.identity.createPasswordReset({ userId: params.id }),
      }));
      return { status: 201, body: { link: `${gateway.publicBaseUrl}${RESET_PATH}${token}`, token, expiresAt: iso(expiresAt) } };
    },
  }),
];
