import { z } from "zod";
import { defineRoute } from "../../edge/route";
import { cursor, cursorPage, limit, listQuery, nextCursor } from "../../http/schemas";
import { auditRow, auditView } from "../admin/audit-routes";
import { ofOrganization, requireMember } from "./shared";

export const organizationAuditRoutes = [
  defineRoute({
    ...ofOrganization,
    method: "GET",
    path: "/api/organizations/:id/audit",
    operationId: "listOrganizationAudit",
    summary: "List changes of members, keys, secrets, budgets and published versions, newest first",
    description: "Only for owners. Also works for the caller's own account.",
    query: listQuery(z.object({ limit, cursor: cursor.optional() })),
    responses: { 200: cursorPage(auditRow) },
    handler: async (context) => {
      const { gateway, params, query } = context;
      await requireMember(context, "owner");
      const request = { ownerId: params.id, limit: query.limit, cursor: query.cursor ?? "" };
      const page = await gateway.services.identity.listAudit(request);
      return { status: 200, body: { rows: page.rows.map(auditView), nextCursor: nextCursor(page.nextCursor) } };
    },
  }),
];
