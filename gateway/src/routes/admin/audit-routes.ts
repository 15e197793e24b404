import { LIMITS } from "@nodeloom/kernel";
import { auditRowJson } from "@nodeloom/platform";
import type { identity } from "@nodeloom/proto";
import { z } from "zod";
import { raw } from "../../http/json";
import { audited } from "../../edge/audit";
import type { Gateway } from "../../edge/gateway";
import { content, defineRoute } from "../../edge/route";
import { cursor, cursorPage, identifier, limit, listQuery, nextCursor, timestamp } from "../../http/schemas";
import { auditedKeyNames } from "../keys/names";
import { EXPORT_NOTE, streamAudit } from "../organizations/audit-csv";
import { forAdmins } from "./shared";

const MAX_ID_CHARS = 300;

export const auditRow = z
  .object({
    id: z.string(),
    actor: z.string().meta({ description: "User id of the person who made the change" }),
    keyId: z.string().nullable().meta({ description: "The API key that was used; null for a session" }),
    keyName: z.string().nullable().optional().meta({ description: "Name of the key, also of a deleted one" }),
    action: z.string().meta({ example: "user.update" }),
    target: z.string().meta({ description: "Id of the changed object" }),
    change: z.unknown().meta({ description: "Body of the request" }),
    before: z.unknown(),
    after: z.unknown().meta({ description: "Null unless the outcome is done" }),
    outcome: z
      .enum(["pending", "done", "failed"])
      .meta({ description: "An entry stays `pending` if its process died during the write, which may have succeeded" }),
    errorCode: z.string().nullable().meta({ description: "Reason for the rejection of a failed write" }),
    requestId: z.string(),
    ip: z.string().nullable().optional().meta({ description: "Address of the caller; null in earlier rows" }),
    at: timestamp.nullable(),
  })
  .meta({ id: "AuditRow" });

const time = z.iso.datetime({ offset: true });
const id = z.string().min(1).max(MAX_ID_CHARS).optional();

/** Filters of the log. */
export const auditFilters = {
  action: id.meta({ description: "An action, or all that begin with a prefix that ends with a dot: `key.`" }),
  actor: id.meta({ description: "Only actions of this person or service account" }),
  key: id.meta({ description: "Only actions with this key" }),
  target: id,
  from: time.optional().meta({ description: "From this time on" }),
  to: time.optional().meta({ description: "Before this time" }),
  q: z.string().min(1).max(LIMITS.searchChars).optional().meta({ description: "Searches action, target, change and error code" }),
};
type Filters = { [Name in keyof typeof auditFilters]?: string | undefined };

export const auditFilter = ({ action = "", actor = "", key = "", target = "", from, to, q = "" }: Filters): identity.AuditFilter => ({
  ...{ action, actorId: actor, keyId: key, target, text: q },
  from: from === undefined ? undefined : new Date(from),
  to: to === undefined ? undefined : new Date(to),
});

export const SHORT_PAGES = "With filters, a page can have fewer rows than `limit`: continue as long as there is a `nextCursor`.";

/** A page of the log. @param ownerId whose log it is; undefined for that of administrators */
export const auditPage = async (gateway: Gateway, page: identity.ListAuditResponse, ownerId: string | undefined): Promise<object> => {
  const names = await auditedKeyNames(gateway, page.rows, ownerId);
  const rows = page.rows.map((row) => ({ ...auditRowJson(row, raw), keyName: names.get(row.keyId) ?? null }));
  return { rows, nextCursor: nextCursor(page.nextCursor) };
};

const owner = identifier
  .optional()
  .meta({ description: "Instead of the administrators' log: changes in this person's or organization's account" });

export const adminAuditRoutes = [
  defineRoute({
    ...forAdmins,
    method: "GET",
    path: "/api/admin/audit",
    operationId: "adminListAudit",
    summary: "List the writes of administrators, newest first",
    query: listQuery(z.object({ owner, ...auditFilters, limit, cursor: cursor.optional() })),
    description: SHORT_PAGES,
    responses: { 200: cursorPage(auditRow) },
    handler: async ({ gateway, query }) => {
      const page = await gateway.services.identity.listAudit({
        ...{ ownerId: query.owner, limit: query.limit, cursor: query.cursor ?? "", filter: auditFilter(query) },
      });
      return { status: 200, body: await auditPage(gateway, page, query.owner) };
    },
  }),
  defineRoute({
    ...forAdmins,
    method: "GET",
    path: "/api/admin/audit/export",
    operationId: "adminExportAudit",
    summary: "Download the writes of administrators as CSV, newest first",
    description: EXPORT_NOTE,
    query: listQuery(z.object({ owner, ...auditFilters })),
    responses: { 200: content({ "text/csv": z.string() }) },
    handler: async (context) => {
      const { query } = context;
      await audited(context, { action: "audit.export", target: query.owner ?? "administrators", change: query }, () =>
        Promise.resolve({ value: undefined }),
      );
      return streamAudit(context, { name: query.owner ?? "administrators", ownerId: query.owner, filter: auditFilter(query) });
    },
  }),
];
