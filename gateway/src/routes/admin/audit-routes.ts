import { identity } from "@nodeloom/proto";
import { z } from "zod";
import { raw } from "../../http/json";
import { defineRoute } from "../../edge/route";
import { cursor, cursorPage, identifier, iso, limit, listQuery, nextCursor, timestamp } from "../../http/schemas";
import { forAdmins } from "./shared";

const OUTCOMES = {
  [identity.AuditOutcome.AUDIT_OUTCOME_DONE]: "done",
  [identity.AuditOutcome.AUDIT_OUTCOME_FAILED]: "failed",
} as const;

export const auditRow = z
  .object({
    id: z.string(),
    actor: z.string().meta({ description: "User id of the person who made the change" }),
    keyId: z.string().nullable().meta({ description: "The API key that was used; null for a session" }),
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
    at: timestamp.nullable(),
  })
  .meta({ id: "AuditRow" });

export const auditView = (row: identity.AuditRow): Record<string, unknown> => ({
  id: row.id,
  actor: row.actorId,
  keyId: row.keyId || null,
  action: row.action,
  target: row.target,
  change: raw(row.changeJson),
  before: raw(row.beforeJson),
  after: raw(row.afterJson),
  outcome: OUTCOMES[row.outcome as keyof typeof OUTCOMES] ?? "pending",
  errorCode: row.errorCode || null,
  requestId: row.requestId,
  at: iso(row.at),
});

export const adminAuditRoutes = [
  defineRoute({
    ...forAdmins,
    method: "GET",
    path: "/api/admin/audit",
    operationId: "adminListAudit",
    summary: "List the writes of administrators, newest first",
    query: listQuery(
      z.object({
        owner: identifier
          .optional()
          .meta({ description: "Instead of the administrators' log: changes in this person's or organization's account" }),
        limit,
        cursor: cursor.optional(),
      }),
    ),
    responses: { 200: cursorPage(auditRow) },
    handler: async ({ gateway, query }) => {
      const page = await gateway.services.identity.listAudit({ ownerId: query.owner, limit: query.limit, cursor: query.cursor ?? "" });
      return { status: 200, body: { rows: page.rows.map(auditView), nextCursor: nextCursor(page.nextCursor) } };
    },
  }),
];
