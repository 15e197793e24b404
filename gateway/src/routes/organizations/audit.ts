import { z } from "zod";
import { content, defineRoute } from "../../edge/route";
import { cursor, cursorPage, limit, listQuery } from "../../http/schemas";
import { auditFilter, auditFilters, auditPage, auditRow, SHORT_PAGES } from "../admin/audit-routes";
import { EXPORT_NOTE, streamAudit } from "./audit-csv";
import { audited } from "../../edge/audit";
import { ofOrganization, requireMember } from "./shared";

const ONLY_OWNERS = "Only for owners. Also works for the caller's own account.";

export const organizationAuditRoutes = [
  defineRoute({
    ...ofOrganization,
    method: "GET",
    path: "/api/organizations/:id/audit",
    operationId: "listOrganizationAudit",
    summary: "List sign-ins, changes and refused attempts in an account, newest first",
    description: `${ONLY_OWNERS} ${SHORT_PAGES}`,
    query: listQuery(z.object({ ...auditFilters, limit, cursor: cursor.optional() })),
    responses: { 200: cursorPage(auditRow) },
    handler: async (context) => {
      const { gateway, params, query } = context;
      await requireMember(context, "owner");
      const request = { ownerId: params.id, limit: query.limit, cursor: query.cursor ?? "", filter: auditFilter(query) };
      const page = await gateway.services.identity.listAudit(request);
      return { status: 200, body: await auditPage(gateway, page, params.id) };
    },
  }),
  defineRoute({
    ...ofOrganization,
    method: "GET",
    path: "/api/organizations/:id/audit/export",
    operationId: "exportOrganizationAudit",
    summary: "Download the audit log as CSV, newest first",
    description: `${ONLY_OWNERS} ${EXPORT_NOTE}`,
    query: listQuery(z.object(auditFilters)),
    responses: { 200: content({ "text/csv": z.string() }) },
    handler: async (context) => {
      const { params, query } = context;
      await requireMember(context, "owner");
      await audited(context, { action: "audit.export", target: params.id, change: query, ownerId: params.id }, () =>
        Promise.resolve({ value: undefined }),
      );
      return streamAudit(context, { name: params.id, ownerId: params.id, filter: auditFilter(query) });
    },
  }),
];
