import { executions } from "@nodeloom/proto";
import { z } from "zod";
import { defineRoute } from "../../edge/route";
import { cursor, cursorPage, identifier, iso, limit, listQuery, nextCursor, PAGES_END_EARLY, timestamp } from "../../http/schemas";
import { forAdmins } from "./shared";

const moderationRow = z
  .object({
    id: z.string().meta({ description: "Kind of the checked content" }),
    at: timestamp.nullable(),
    userId: z.string(),
    executionId: z.string().meta({ description: "Null if the run was rejected before it started" }),
    workflowSlug: z.string().nullable().meta({ description: "Workflow of rejected inputs" }),
    nodeId: z.string().nullable().meta({ description: "Null for inputs of a run" }),
    model: z.string().nullable(),
    kind: z.enum(["input", "output"]),
    decision: z
      .enum(["refuse", "unchecked"])
      .meta({ description: "`unchecked`: the hook was unavailable, and the content was accepted unchecked" }),
    reason: z.string().nullable().meta({ description: "The hook's code" }),
    message: z.string().nullable().meta({ description: "The hook's sentence" }),
    policy: z.string().nullable().meta({ description: "Categories that the hook returned" }),
    texts: z.number().int().meta({ description: "Number of texts that the hook checked. They aren't stored" }),
    files: z.number().int(),
  })
  .meta({ id: "ModerationRow" });

const view = (row: executions.ModerationRow): Record<string, unknown> => ({
  ...row,
  at: iso(row.at),
  workflowSlug: row.workflowSlug || null,
  nodeId: row.nodeId || null,
  model: row.model || null,
  reason: row.reason || null,
  message: row.message || null,
  policy: row.policy || null,
});

export const adminModerationRoutes = [
  defineRoute({
    ...forAdmins,
    method: "GET",
    path: "/api/admin/moderation",
    operationId: "adminListModeration",
    summary: "List content that the moderation hook rejected, newest first",
    description: `Includes content that was accepted unchecked while the hook was unavailable. ${PAGES_END_EARLY}`,
    query: listQuery(z.object({ userId: identifier.optional(), limit, cursor: cursor.optional() })),
    responses: {
      200: cursorPage(moderationRow).extend({
        configured: z.boolean().meta({ description: "True if this installation has a moderation hook" }),
      }),
    },
    handler: async ({ gateway, query }) => {
      const page = await gateway.services.executions.listModeration(executions.ListModerationRequest.fromPartial(query));
      return {
        status: 200,
        body: { configured: page.configured, rows: page.rows.map(view), nextCursor: nextCursor(page.nextCursor) },
      };
    },
  }),
];
