import { z } from "zod";
import { content, defineRoute, STREAMED } from "../../edge/route";
import { whileConnected } from "../../http/event-stream";
import { cursor, cursorPage, limit, listQuery, nextCursor } from "../../http/schemas";
import { auditFilter, auditFilters, auditRow, auditView, SHORT_PAGES } from "../admin/audit-routes";
import { EXPORTED_ROWS, streamAudit } from "./audit-csv";
import { audited } from "../../edge/audit";
import { ofOrganization, requireMember } from "./shared";

/** Rows that are read at once for a file. */
const PAGE = 500;
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
      return { status: 200, body: { rows: page.rows.map(auditView), nextCursor: nextCursor(page.nextCursor) } };
    },
  }),
  defineRoute({
    ...ofOrganization,
    method: "GET",
    path: "/api/organizations/:id/audit/export",
    operationId: "exportOrganizationAudit",
    summary: "Download the audit log as CSV, newest first",
    description: `${ONLY_OWNERS} At most ${EXPORTED_ROWS} rows: split a longer log by \`from\` and \`to\`. The download is a row of the log.`,
    query: listQuery(z.object(auditFilters)),
    responses: { 200: content({ "text/csv": z.string() }) },
    handler: async (context) => {
      const { gateway, params, query, response } = context;
      await requireMember(context, "owner");
      await audited(context, { action: "audit.export", target: params.id, change: query, ownerId: params.id }, () =>
        Promise.resolve({ value: undefined }),
      );
      const signal = whileConnected(response, gateway.stopping);
      const read = (from: string) =>
        gateway.services.identity.listAudit({ ownerId: params.id, limit: PAGE, cursor: from, filter: auditFilter(query) }, { signal });
      await streamAudit(response, params.id, read);
      return STREAMED;
    },
  }),
];
